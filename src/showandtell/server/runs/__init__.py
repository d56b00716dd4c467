"""Runs: who answers, what a run has said, and how readers anywhere hear it."""
