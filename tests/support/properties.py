"""How many examples a property test tries."""

from hypothesis import HealthCheck, settings

#: What the profiles of `conftest.py` are in proportion to: a tenth while you edit, a quarter in `make test`, ten times in
#: `make stress`.
USUAL = 100


def examples(count=USUAL, *, suppress=(), **more):
    """Settings of a property test: `count` examples in proportion to the profile, and no fewer than a third of the profile's.

    In `make test` these are a quarter of `count`, in a random search ten times as many.
    """
    tried = settings.default.max_examples
    max_examples = max(1, min(count, tried // 3), count * tried // USUAL)
    return settings(max_examples=max_examples, suppress_health_check=[HealthCheck.too_slow, *suppress], **more)
