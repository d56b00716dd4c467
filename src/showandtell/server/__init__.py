"""The chat server."""
