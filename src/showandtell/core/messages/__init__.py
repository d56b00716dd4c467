"""Messages, the files in them, and what has to hold between them."""
