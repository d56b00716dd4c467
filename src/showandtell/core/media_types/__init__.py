"""The media type of a file: the claimed one, and the one that its first bytes show."""
