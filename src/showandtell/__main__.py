"""`python -m showandtell` is the command `showandtell`."""

from showandtell.cli.main import main

main()
