"""Runs of the server: who executes them, what they have streamed, and how any worker reads it."""
