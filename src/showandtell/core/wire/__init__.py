"""How each api spells entries, and what its stream means. Pure."""
