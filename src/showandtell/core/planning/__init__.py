"""Planning: where each file goes in a request, and what is said beside it. No provider is named here."""
