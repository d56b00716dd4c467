"""Rules of the server's description."""


def has_rules(operation):
    """Whether anything can be asked that breaks a rule of this operation."""
    return bool(list(operation.body) or list(operation.query))
