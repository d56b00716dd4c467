"""The tables and everything that works on rows: migrations, leases, quotas, garbage collection."""
