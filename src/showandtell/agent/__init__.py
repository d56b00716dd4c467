"""The agent: tools, the loop that asks a model and runs them, and `render` for people with a loop of their own."""
