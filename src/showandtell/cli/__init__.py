"""The commands of the terminal."""
