"""What every request passes before its route: the check of its origin, rate limits, limits of its body."""
