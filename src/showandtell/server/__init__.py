"""The chat server: what it streams, serves and lets whom do."""
