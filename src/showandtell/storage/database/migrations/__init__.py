"""The revisions of the first tables, whose names had no prefix; they are frozen. `prefixed` has those of today's."""
