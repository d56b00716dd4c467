"""Hosts as rows, and the door to them."""
