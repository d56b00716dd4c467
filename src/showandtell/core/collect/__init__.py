"""How values of any kind are read into parts; `showandtell.collect` is the door."""
