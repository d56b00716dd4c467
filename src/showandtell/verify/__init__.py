"""The eye test: whether a model sees what each place of its api takes, found out by asking it."""
