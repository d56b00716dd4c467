"""Messages, the files in them, and the rules between them."""
