"""The bytes of files, by their hash: in a folder, in a bucket, in memory."""
