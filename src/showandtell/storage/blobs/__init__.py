"""Content-addressed storage for file bytes: in a folder, a bucket or memory."""
