"""Settings from a file, the environment and options; the user's folders; atomic file writes."""
