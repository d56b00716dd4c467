"""`python -m showandtell` is the command `showandtell`."""

from showandtell.cli import main

main()
