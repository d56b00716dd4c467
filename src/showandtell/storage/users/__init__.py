"""All that is stored of a person at once: listed, deleted, exported."""
