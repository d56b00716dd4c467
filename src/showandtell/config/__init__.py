"""Settings from a file, the environment and options; the user's folders; files that are written whole."""
