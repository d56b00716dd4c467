"""What a file is: by what it claims, and by its first bytes."""
