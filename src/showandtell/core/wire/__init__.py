"""Wire formats: how each API writes a request, and what its responses mean."""
