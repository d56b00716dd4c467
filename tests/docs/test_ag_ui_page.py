"""The program of docs/embed.md that answers clients of AG-UI, in use."""

import re

from starlette.testclient import TestClient

from support.paths import ROOT

PAGE = (ROOT / "docs" / "embed.md").read_text()


def test_a_file_of_an_answer_is_served_and_comes_back_by_its_address():
    (code,) = [code for code in re.findall(r"(?s)```python\n(.*?)```", PAGE) if "chats = {}" in code]
    program = {}
    exec(code, program)  # noqa: S102 - our own
    with TestClient(program["app"]) as client:

        def ask(*content):
            message = {"id": "m", "role": "user", "content": [*content]}
            body = {"threadId": "t", "runId": "r", "protocolVersion": "1.0", "messages": [message]}
            return client.post("/ag-ui", json=body).text

        url = re.search(
            r"https://chat\.example(/api/[^\"]+)", ask({"type": "text", "text": "/read_file path=kiwi.jpg"})
        )[1]
        assert len(client.get(url).content) == 20175
        again = ask({"type": "image", "source": {"type": "url", "value": url}})
        assert url in again
        assert '"type":"RUN_FINISHED"' in again
