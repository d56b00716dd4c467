"""Whether a worker lives and can work, and what it counts: no user, no id, no path is a label."""

import asyncio
import re
from functools import partial

import pytest
from sqlalchemy import text

from showandtell.core.events.types import ErrorEvent, Finish, TextDelta, Usage
from showandtell.errors import StorageFailed
from showandtell.server.observability.metrics import MAX_MODELS, OTHER, Metrics, RunMeter
from showandtell.server.observability.requests import RequestLog
from showandtell.server.readiness import RESULT_AGE, Probe
from support.server_process import until
from support.serving import serving

pytestmark = pytest.mark.anyio


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(f"showandtell_{name}", labels)


async def visit(app, path="/", method="GET", *, leaves=False):
    """Ask an ASGI application, which gets one body of three bytes; gives what it sent."""
    sent, coming = [], [{"type": "http.disconnect"}]
    coming += [{"type": "http.request", "body": b"abc", "more_body": leaves}]

    async def receive():
        return coming.pop() if leaves else coming[-1]

    async def send(message):
        sent.append(message)

    await app({"type": "http", "method": method, "path": path, "headers": []}, receive, send)
    return sent


def answering(status=200, body=b"hello", route=None):
    async def app(scope, receive, send):
        await receive()
        if route is not None:
            scope["route"] = type("Route", (), {"path": route})()
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return app


def watched(app, metrics):
    return RequestLog(app, (metrics.count_request,), metrics.clock)


async def test_requests_are_counted_by_the_template_of_their_route():
    metrics = Metrics("1.2.3", clock=iter(range(100)).__next__)
    for name in "abc":
        await visit(watched(answering(route="/api/things/{id}"), metrics), f"/api/things/{name}")
    route = "/api/things/{id}"
    assert value(metrics, "requests_total", method="GET", route=route, status="200") == 3
    assert value(metrics, "request_seconds_sum", route=route) == 3
    assert value(metrics, "received_bytes_total", route=route) == 9
    assert value(metrics, "sent_bytes_total", route=route) == 15
    assert value(metrics, "build_info", version="1.2.3") == 1


async def test_what_no_route_answers_and_strange_methods_have_one_label():
    metrics = Metrics()
    for number in range(20):
        await visit(watched(answering(404), metrics), f"/wp-admin/{number}", f"METHOD{number}")
    assert value(metrics, "requests_total", method=OTHER, route="none", status="404") == 20
    assert len(metrics.text()) < 20_000


async def test_a_request_that_fails_is_counted_too():
    async def broken(scope, *_):
        raise RuntimeError(scope["path"])

    metrics = Metrics()
    with pytest.raises(RuntimeError):
        await visit(watched(broken, metrics))
    assert value(metrics, "requests_total", method="GET", route="none", status="500") == 1


async def leave(site, line):
    """Begin to send a body, and close the connection."""
    _, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
    output = {"host": "127.0.0.1", "authorization": f"Bearer {site.server.keys.token}", "content-length": "1000"}
    output |= {"content-type": "application/json"}
    head = "".join(f"{name}: {one}\r\n" for name, one in output.items())
    writer.write(f"{line} HTTP/1.1\r\n{head}\r\n{{".encode())
    await writer.drain()
    writer.close()


async def test_who_leaves_while_sending_is_no_fault_of_ours(tmp_path):
    async with serving(tmp_path) as site:
        for line in ("POST /api/chat", "PUT /api/attachments"):
            await leave(site, line)
        count = partial(value, site.app.state.metrics, "requests_total", status="499")
        post, put = {"method": "POST", "route": "/api/chat"}, {"method": "PUT", "route": "/api/attachments"}
        await until(lambda: count(**post) == count(**put) == 1)
        async with site.session.get("/metrics") as answer:
            assert 'status="5' not in await answer.text()


async def test_a_fault_of_ours_is_one_also_where_who_asked_has_left():
    async def broken(_, receive, __):
        while (await receive())["type"] != "http.disconnect":
            pass
        raise RuntimeError

    metrics = Metrics()
    with pytest.raises(RuntimeError):
        await visit(watched(broken, metrics), leaves=True)
    assert value(metrics, "requests_total", method="GET", route="none", status="500") == 1


async def test_who_leaves_while_reading_had_an_answer():
    async def streaming(_, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"some", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    metrics = Metrics()
    await visit(watched(streaming, metrics), leaves=True)
    assert value(metrics, "requests_total", method="GET", route="none", status="200") == 1


async def test_a_run_is_counted_with_its_time_tokens_and_errors():
    metrics = Metrics(clock=iter([10.0, 11.0, 15.0]).__next__)
    meter = RunMeter(metrics, "inspector")
    for event in (TextDelta("0", "hi"), ErrorEvent("BadAnswer", "torn"), Finish("error", None, Usage(7, 5))):
        meter.count(event)
    assert value(metrics, "first_event_seconds_sum", model="inspector") == 1
    assert value(metrics, "run_seconds_sum", model="inspector") == 5
    assert value(metrics, "runs_total", model="inspector", status="error") == 1
    assert value(metrics, "tokens_total", model="inspector", direction="input") == 7
    assert value(metrics, "tokens_total", model="inspector", direction="output") == 5
    assert value(metrics, "errors_total", kind="BadAnswer") == 1


async def test_thousands_of_names_of_models_are_a_hundred_labels():
    metrics = Metrics()
    for number in range(5_000):
        RunMeter(metrics, f"inspector:{number}").count(Finish("complete"))
    assert value(metrics, "runs_total", model=OTHER, status="complete") == 5_000 - MAX_MODELS


async def test_what_is_open_is_asked_when_somebody_wants_to_know():
    metrics, readers = Metrics(), []
    metrics.watch(lambda: len(readers), lambda: 2)
    readers += [1, 2, 3]
    assert (value(metrics, "open_streams"), value(metrics, "running")) == (3, 2)


async def test_a_probe_that_hangs_is_asked_once_by_however_many():
    begun, done = [], asyncio.Event()

    async def work():
        begun.append(1)
        await done.wait()

    probe = Probe(work)
    output = await asyncio.gather(*(probe.run(0.01) for _ in range(20)))
    assert (len(begun), set(output)) == (1, {"it did not answer within 0.01 s"})
    done.set()
    assert await probe.run() == "ok"


async def test_what_a_probe_written_counts_for_a_moment_and_names_no_host():
    now, failing = [0.0], [StorageFailed("postgresql://db.internal does not answer")]
    begun = []

    async def work():
        begun.append(1)
        if failing:
            raise failing[0]

    probe = Probe(work, lambda: now[0])
    first = await probe.run()
    assert "StorageFailed" in first
    assert "db.internal" not in first
    failing.clear()
    assert (await probe.run(), len(begun)) == (first, 1)
    now[0] = RESULT_AGE
    assert (await probe.run(), len(begun)) == ("ok", 2)


async def test_any_client_that_asks_is_reported_that_the_process_lives_and_can_work(tmp_path):
    async with serving(tmp_path) as site:
        nobody = site.as_user()
        async with nobody.get("/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
        assert await site.get("/readyz", nobody) == (200, {"ready": True, "database": "ok", "files": "ok"})


async def test_a_worker_without_its_files_or_database_is_not_ready(tmp_path):
    async with serving(tmp_path) as site:
        spools = site.store.blobs.inner.path / "spool"
        for path in spools.iterdir() if spools.exists() else ():
            path.unlink()
        spools.rmdir() if spools.exists() else None
        (site.store.blobs.inner.path).mkdir(exist_ok=True)
        spools.write_text("no folder")
        status, received = await site.get("/readyz", site.as_user())
        assert (status, received["ready"], received["database"]) == (503, False, "ok")
        assert "StorageFailed" in received["files"]
        assert str(tmp_path) not in str(received)


async def test_damage_that_a_request_met_is_reported_until_the_worker_restarts(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("hello", chat="c")
        found = (await site.get("/api/conversations"))[1]["conversations"][0]["id"]
        ((page,),) = await site.store.database.read(
            text("SELECT rootpage FROM sqlite_master WHERE name = 'showandtell_messages'")
        )
    database = next(tmp_path.rglob("showandtell.db"))
    whole = database.read_bytes()
    database.write_bytes(whole[: (page - 1) * 4096] + b"noise..." * 512 + whole[page * 4096 :])
    async with serving(tmp_path) as site:
        assert (await site.get(f"/api/conversations/{found}"))[0] == 503
        status, received = await site.get("/readyz", site.as_user())
        assert (status, received["database"]) == (503, "it is damaged: run showandtell fsck, and restore the backup")


async def test_a_full_database_is_reported_until_there_is_space(tmp_path):
    async with serving(tmp_path) as site:
        write = site.store.database.write
        await write(lambda connection: connection.execute(text("PRAGMA max_page_count = 1")))  # what there is
        assert (await site.post("hello " * 10_000, chat="c"))[0] == 507
        status, received = await site.get("/readyz", site.as_user())
        assert (status, received["database"]) == (503, "it is full: free space or delete conversations")
        await write(lambda connection: connection.execute(text("PRAGMA max_page_count = 100000")))
        await site.store.database.check()


async def test_metrics_are_for_this_machine_and_for_any_client_that_is_logged_in(tmp_path):
    async with serving(tmp_path) as site:
        nobody = site.as_user()
        await site.get("/api/models")
        async with nobody.get("/metrics") as answer:
            text = await answer.text()
            assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert re.search(r'requests_total\{method="GET",route="/api/models",status="200"\} 1\.0', text)
        for header in ("x-forwarded-for", "forwarded", "via", "x-real-ip"):
            async with nobody.get("/metrics", headers={header: "203.0.113.9"}) as answer:
                assert answer.status == 401
            async with site.session.get("/metrics", headers={header: "203.0.113.9"}) as answer:
                assert answer.status == 200


async def test_no_name_id_or_word_of_a_user_stands_in_the_metrics(tmp_path):
    async with serving(tmp_path) as site:
        status, _ = await site.post("a very private word", chat="my-own-chat")
        assert status == 200
        found = (await site.get("/api/conversations"))[1]["conversations"][0]["id"]
        await site.get(f"/api/conversations/{found}")
        await site.get("/api/conversations?q=secretly")
        async with site.session.get("/metrics") as answer:
            text = await answer.text()
    assert 'showandtell_runs_total{model="inspector",status="complete"} 1.0' in text
    assert 'route="/api/conversations/{id}"' in text
    for private in (found, "private", "my-own-chat", "secretly", "local"):
        assert private not in text
