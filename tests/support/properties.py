"""How many examples a property test tries."""

from hypothesis import HealthCheck, settings

#: What `make test` tries if a test doesn't say otherwise; fewer by default, ten times as many in `make stress`.
USUAL = 100


def examples(count=USUAL, *, suppress=(), **more):
    """Settings of a property test: `count` examples in `make test`, ten times as many in a random search."""
    max_examples = max(1, count * settings.default.max_examples // USUAL)
    return settings(max_examples=max_examples, suppress_health_check=[HealthCheck.too_slow, *suppress], **more)
