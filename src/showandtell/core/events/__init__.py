"""What happens in a run, and how it becomes a message."""
