"""The loop: tools, what comes next, and one step after the other."""
