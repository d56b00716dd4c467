"""Conversations: in memory now."""
