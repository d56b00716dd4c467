"""ASGI middleware for every request: origin checks, rate limits and body limits."""
