"""Command lines and requests for a server program."""

import signal

from support.serving import chat_body

ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


def say(program, words, chat="chat"):
    return program.session.post(f"{program.url}/api/chat", json=chat_body(words, chat))
