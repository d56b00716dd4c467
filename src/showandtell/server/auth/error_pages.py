"""Small HTML pages for people who are not signed in or opened a wrong address. They load and run nothing."""

from __future__ import annotations

from html import escape
from typing import Final

from starlette.responses import HTMLResponse
from starlette.types import Scope

from showandtell.server.addresses import public_path

NO_STORE: Final = {"cache-control": "no-store"}
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
OPEN_ADDRESS: Final = """<p>On the server's machine, run <code>showandtell token</code> with the same
<code>--data</code> or <code>--database</code> as <code>showandtell serve</code>, and open the address that it prints.
It works once, and this browser stays signed in.</p>"""
TRY_AGAIN: Final = "<p>Reload this page to try again.</p>"
FREE_SPACE: Final = """<p>On the server's machine, free space on the disk, or delete conversations with
<code>showandtell list</code> and <code>showandtell delete</code>.
Then reload this page, or sign in again.</p>"""


def chat_link(scope: Scope) -> str:
    """Return the link to the page of the chat."""
    return f'<p><a href="{escape(public_path(scope, "/"))}">Go to the chat</a></p>'


def login_link(scope: Scope) -> str:
    """Return the link that signs in."""
    return f'<p><a href="{escape(public_path(scope, "/login"))}">Sign in</a></p>'


def message_page(title: str, problem: str, advice: str, status: int) -> HTMLResponse:
    """Return a page with a title and a sentence, both escaped. `advice` is HTML from this module."""
    return HTMLResponse(PAGE.format(title=escape(title), problem=escape(problem), advice=advice), status, NO_STORE)


def too_many_page(scope: Scope, seconds: int) -> HTMLResponse:
    """Return the page for a browser over a rate limit: how long to wait."""
    problem = f"There were too many attempts to sign in from your network. Try again in {seconds} seconds."
    page = message_page("Please wait", problem, chat_link(scope), 429)
    page.headers["retry-after"] = str(seconds)
    return page
