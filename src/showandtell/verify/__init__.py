"""The vision check: asks a model whether it sees what its API takes."""
