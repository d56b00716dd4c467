"""From claims to proofs: where bytes are stored and how they are read again."""
