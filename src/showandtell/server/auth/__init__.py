"""Authentication: tokens, cookies, signed URLs, and accounts of an OpenID Connect issuer."""
