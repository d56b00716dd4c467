"""Small pages for who can't come in (yet), or is lost: they say what to do, load nothing and run nothing."""

from __future__ import annotations

from html import escape
from typing import Final

from starlette.responses import HTMLResponse

UNKEPT: Final = {"cache-control": "no-store"}
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Show &amp; Tell: {title}</title>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{problem}</p>
{advice}
</main>
</body>
</html>
"""
ADDRESS: Final = """<p>Open the whole address that <code>showandtell serve</code> printed when it started; it ends in
<code>?token=</code> and the token. It can be opened again at any time, and this browser will remember it.</p>"""
HOME: Final = '<p><a href="/">Go to the chat</a></p>'
AGAIN: Final = '<p><a href="/login">Sign in</a></p>'


def closed(title: str, problem: str, advice: str, status: int) -> HTMLResponse:
    """A page of our words; `advice` is HTML of this module."""
    return HTMLResponse(PAGE.format(title=escape(title), problem=escape(problem), advice=advice), status, UNKEPT)
