"""The servers that the page's scenarios visit, and what a scenario may ask of them meanwhile."""

import base64
from contextlib import contextmanager
from typing import Any, NamedTuple

from support import page_tools
from support.browser import Address, Program, play, street
from support.fixtures import mp4, wav
from support.saying import MODEL, Speaker

#: So little that a test may go over it.
SMALL = {"max_file_bytes": 3_000_000}


class Town(NamedTuple):
    """Sites by name, functions that scenarios may call, and a way to reset the fake model between scenarios."""

    sites: dict[str, Address]
    functions: dict[str, Any]
    forget: Any

    def play(self, scenario, folder, **given):
        """Play one scenario here."""
        self.forget()
        return play(scenario, self.sites, folder, self.functions, **given)


def media():
    """A sound and a film of five seconds, as base64."""
    made = {"sound": wav(5.0), "film": mp4(5.0, codec="libx264")}
    return {name: base64.b64encode(data).decode() for name, data in made.items()}


@contextmanager
def open_town(make_folder):
    """plain: with the inspector. spoken: its model replies as the message asks. own: to change at will. program: to kill."""
    with street() as made:
        speaker = Speaker()
        made.add_fake_provider(handlers=[speaker])
        plain = made.build(make_folder("plain"), tools=page_tools.TOOLS)
        spoken = made.build(make_folder("spoken"), default_model=MODEL, place=SMALL, tools=page_tools.TOOLS)
        own = made.build(make_folder("own"))
        program = Program(make_folder("program"))
        functions = {
            "go": lambda times=1: made.run(speaker.go(times)),
            "release": page_tools.GATE.release,
            "restart": program.restart,
            "media": media,
        }
        sites = {"plain": plain, "spoken": spoken, "own": own, "program": program}
        try:
            yield Town(
                {name: Address(site.url) for name, site in sites.items()},
                functions,
                lambda: made.run(speaker.reset()),
            )
        finally:
            program.close()
