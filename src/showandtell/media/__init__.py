"""The one gate that decodes media, in a child process."""
