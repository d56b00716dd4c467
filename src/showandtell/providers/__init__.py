"""Providers: their hosts as rows of data, keys, retries, and uploads to them."""
