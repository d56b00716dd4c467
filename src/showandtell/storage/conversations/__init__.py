"""Conversations, in memory and in the database."""
