"""The embedded model: a strict server for our wire formats that reads files back out of the body."""
