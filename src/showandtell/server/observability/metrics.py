"""What a worker counts for Prometheus: requests, bytes, runs. No label names a user, a conversation or a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest

from showandtell.core.events.types import ErrorEvent, Event, Finish, Usage
from showandtell.server.observability.requests import RequestRecord

SECONDS = (0.005, 0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
#: Models of which each has a label of its own: anybody may write any name, and each would stay for ever.
MOST_MODELS = 100
OTHERS = "others"
#: The methods that have a label of their own, for the same reason.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """All counts of one worker. `clock` gives seconds."""

    def __init__(self, version: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.registry, self.clock = CollectorRegistry(), clock
        self._models: set[str] = set()
        self.requests = self._counter("requests", "Answers to requests", "method", "route", "status")
        self.request_seconds = self._histogram("request_seconds", "From a request to its last byte", "route")
        self.received = self._counter("received_bytes", "Bytes of bodies that came in", "route")
        self.sent = self._counter("sent_bytes", "Bytes of bodies that went out", "route")
        self.runs = self._counter("runs", "Runs that ended", "model", "status")
        self.run_seconds = self._histogram("run_seconds", "How long runs took", "model")
        self.first = self._histogram("first_event_seconds", "Until a run said anything", "model")
        self.tokens = self._counter("tokens", "Tokens as providers count them", "model", "direction")
        self.errors = self._counter("errors", "Errors of runs", "kind")
        self.streams = Gauge("showandtell_open_streams", "Streams that somebody reads now", registry=self.registry)
        self.going = Gauge("showandtell_running", "Runs that go on here now", registry=self.registry)
        Info("showandtell_build", "Which version this is", registry=self.registry).info({"version": version})

    def _counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(f"showandtell_{name}", told, labels, registry=self.registry)

    def _histogram(self, name: str, told: str, *labels: str) -> Histogram:
        return Histogram(f"showandtell_{name}", told, labels, buckets=SECONDS, registry=self.registry)

    def watch(self, streams: Callable[[], int], going: Callable[[], int]) -> None:
        """From now on these say how many streams are read and how many runs go on."""
        self.streams.set_function(streams)
        self.going.set_function(going)

    @contextmanager
    def count_visit(self, visit: RequestRecord) -> Generator[None]:
        """Count a request by the route that answered it; what no route answers is one of its own."""
        try:
            yield
        finally:
            route, method = visit.route, visit.scope["method"]
            self.requests.labels(method if method in METHODS else OTHERS, route, str(visit.status)).inc()
            self.request_seconds.labels(route).observe(visit.seconds)
            self.received.labels(route).inc(visit.received)
            self.sent.labels(route).inc(visit.sent)

    def text(self) -> bytes:
        """All of it, in Prometheus's text format."""
        return generate_latest(self.registry)

    def model(self, name: str) -> str:
        """The label for a model: its name, or `others` where there were too many."""
        if name in self._models or len(self._models) < MOST_MODELS:
            self._models.add(name)
            return name
        return OTHERS


class RunMeter:
    """Counts one run: give it every event, in order."""

    def __init__(self, metrics: Metrics, model: str) -> None:
        self._metrics, self._model = metrics, metrics.model(model)
        self._since, self._silent = metrics.clock(), True

    def take(self, event: Event) -> None:
        """Count what an event says."""
        if self._silent:
            self._silent = False
            self._metrics.first.labels(self._model).observe(self._metrics.clock() - self._since)
        match event:
            case Finish(status, _, usage):
                self._end(status, usage)
            case ErrorEvent(kind):
                self._metrics.errors.labels(kind).inc()
            case _:
                pass

    def _end(self, status: str, usage: Usage) -> None:
        self._metrics.runs.labels(self._model, status).inc()
        self._metrics.run_seconds.labels(self._model).observe(self._metrics.clock() - self._since)
        self._metrics.tokens.labels(self._model, "input").inc(usage.input_tokens)
        self._metrics.tokens.labels(self._model, "output").inc(usage.output_tokens)
