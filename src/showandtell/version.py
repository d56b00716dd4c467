"""The version, which the build reads from here: to ask the installed package for it takes longer than most commands."""

VERSION = "0.2.1"
