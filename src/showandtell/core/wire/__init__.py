"""Wire formats: write requests for each API and parse its responses."""
