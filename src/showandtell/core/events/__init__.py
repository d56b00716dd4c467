"""The events of a run, and how they become a message."""
