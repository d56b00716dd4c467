"""What is kept: the bytes of files, conversations, and the database that holds them together."""
