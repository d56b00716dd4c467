"""Migrations of today's tables, whose names begin with `showandtell_`."""
