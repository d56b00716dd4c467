"""The embedded model: a strict server of each API that reads the files back out of a request and describes them."""
