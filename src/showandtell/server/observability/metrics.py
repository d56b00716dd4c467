"""Prometheus metrics of a worker: requests, bytes and runs. No label names a user, a conversation or a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest

from showandtell.core.events.types import ErrorEvent, Event, Finish, Usage
from showandtell.server.observability.requests import RequestRecord

SECONDS = (0.005, 0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
#: Maximum number of model labels. Clients can send any name, and a label is never removed.
MAX_MODELS = 100
OTHER = "others"
#: The methods with their own label, for the same reason.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The metrics of one worker. `clock` returns seconds."""

    def __init__(self, version: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.registry, self.clock = CollectorRegistry(), clock
        self._models: set[str] = set()
        self._counted: dict[tuple[str, str, str], tuple[Counter, Histogram, Counter, Counter]] = {}
        self.requests = self._counter("requests", "Requests by route and response status", "method", "route", "status")
        self.request_seconds = self._histogram(
            "request_seconds", "Seconds from a request to the last byte of its response", "route"
        )
        self.received = self._counter("received_bytes", "Bytes of request bodies", "route")
        self.sent = self._counter("sent_bytes", "Bytes of response bodies", "route")
        self.runs = self._counter("runs", "Finished runs", "model", "status")
        self.run_seconds = self._histogram("run_seconds", "Seconds that runs took", "model")
        self.first_event = self._histogram("first_event_seconds", "Seconds until the first event of a run", "model")
        self.tokens = self._counter("tokens", "Tokens as counted by providers", "model", "direction")
        self.errors = self._counter("errors", "Errors in runs", "kind")
        self.streams = Gauge("showandtell_open_streams", "Streams with a connected reader", registry=self.registry)
        self.live_runs = Gauge("showandtell_running", "Live runs in this worker", registry=self.registry)
        Info("showandtell_build", "Version of the server", registry=self.registry).info({"version": version})

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"showandtell_{name}", help_text, labels, registry=self.registry)

    def _histogram(self, name: str, help_text: str, *labels: str) -> Histogram:
        return Histogram(f"showandtell_{name}", help_text, labels, buckets=SECONDS, registry=self.registry)

    def watch(self, streams: Callable[[], int], live_runs: Callable[[], int]) -> None:
        """Set the functions that return the number of open streams and live runs."""
        self.streams.set_function(streams)
        self.live_runs.set_function(live_runs)

    @contextmanager
    def count_request(self, record: RequestRecord) -> Generator[None]:
        """Count a request under its route's template. Requests without a route share a label."""
        try:
            yield
        finally:
            requests, seconds, received, sent = self._of(record.scope["method"], record.route, record.status)
            requests.inc()
            seconds.observe(record.seconds)
            received.inc(record.received)
            sent.inc(record.sent)

    def _of(self, method: str, route: str, status: int) -> tuple[Counter, Histogram, Counter, Counter]:
        """What is counted for such requests. Each look at a label takes longer than to count."""
        key = (method if method in METHODS else OTHER, route, str(status))
        found = self._counted.get(key)
        if found is None:
            of_route = self.request_seconds.labels(route), self.received.labels(route), self.sent.labels(route)
            found = self._counted[key] = (self.requests.labels(*key), *of_route)
        return found

    def count_tokens(self, model: str, usage: Usage) -> None:
        """Count the tokens of a model, whose name is limited by `model`."""
        self.tokens.labels(model, "input").inc(usage.input_tokens)
        self.tokens.labels(model, "output").inc(usage.output_tokens)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)

    def model(self, name: str) -> str:
        """Return the label for a model: its name, or `others` once there are too many."""
        if name in self._models or len(self._models) < MAX_MODELS:
            self._models.add(name)
            return name
        return OTHER


class RunMeter:
    """Counts one run. Pass every event, in order, to `count`."""

    def __init__(self, metrics: Metrics, model: str) -> None:
        self._metrics, self._model = metrics, metrics.model(model)
        self._started, self._awaiting_first = metrics.clock(), True

    def count(self, event: Event) -> None:
        """Update the metrics for an event."""
        if self._awaiting_first:
            self._awaiting_first = False
            self._metrics.first_event.labels(self._model).observe(self._metrics.clock() - self._started)
        match event:
            case Finish(status, _, usage):
                self._end(status, usage)
            case ErrorEvent(kind):
                self._metrics.errors.labels(kind).inc()
            case _:
                pass

    def _end(self, status: str, usage: Usage) -> None:
        self._metrics.runs.labels(self._model, status).inc()
        self._metrics.run_seconds.labels(self._model).observe(self._metrics.clock() - self._started)
        self._metrics.count_tokens(self._model, usage)
