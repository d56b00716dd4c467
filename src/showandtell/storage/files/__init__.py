"""Reads, stores, probes, numbers and converts files."""
