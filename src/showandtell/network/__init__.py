"""HTTP client, transport and guarded fetching of URLs."""
