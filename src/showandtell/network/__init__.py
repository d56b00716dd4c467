"""HTTP requests to providers, and guarded requests to any other address."""
