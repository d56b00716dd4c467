"""Other libraries' conversations become ours."""
