"""Where each file goes, and what is said beside it. Pure; no provider is named here."""
