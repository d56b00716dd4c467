"""Who asks, and how they come in: tokens, cookies, signed addresses, accounts of an issuer."""
