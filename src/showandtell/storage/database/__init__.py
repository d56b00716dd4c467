"""The database: tables, migrations, leases, quotas and garbage collection."""
