"""Everything that is pure: values and functions without I/O, clocks or threads."""
