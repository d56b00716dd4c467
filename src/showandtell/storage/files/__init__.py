"""Files on their way into storage: read, proved, numbered, converted."""
