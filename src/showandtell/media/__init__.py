"""Decoding and conversion of media, in a child process with limits."""
