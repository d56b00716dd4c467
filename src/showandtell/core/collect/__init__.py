"""How any Python value becomes parts: text and bytes, then content blocks, other libraries' objects, and values."""
