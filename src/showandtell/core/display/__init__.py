"""How files, receipts, runs and conversations show themselves in notebooks and terminals."""
