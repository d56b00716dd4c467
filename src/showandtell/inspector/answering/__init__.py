"""What the inspector says: a description of what it was sent, and calls of tools."""
