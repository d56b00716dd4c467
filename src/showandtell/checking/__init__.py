"""Checks arguments and fields by their annotations, so that a wrong type is an error where it is passed."""
