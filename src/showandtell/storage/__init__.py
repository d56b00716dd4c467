"""Stored files, conversations, and the database that ties them together."""
