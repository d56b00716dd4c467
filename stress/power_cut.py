"""Cuts the power of a program's disk: at every other call that changes it, the disk is copied as it is just then.

The disk is an image with ext4, mounted by a loop device; what isn't synced has not reached the image, and so isn't in
the copy. Each copy is mounted, and must hold all that was acknowledged until then. Run it as root, by `unshare --mount`,
with a temporary folder, disk.so preloaded, and the mode of disk.py; it prints one JSON object: how many cuts, and what
was lost.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import disk
import victim
from durable import check

SIZE = 24 * 1024 * 1024
#: No inode tables and no journal are written behind our back, and nothing every five seconds.
MAKE = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0")
MOUNT = ("mount", "-o", "loop,commit=600")


def call(*command):
    subprocess.run(command, check=True)  # noqa: S603


def snapshot(image, copy):
    """Copy the image while nobody writes to it."""
    while True:
        before = image.stat().st_mtime_ns
        call("cp", "--sparse=always", image, copy)
        if image.stat().st_mtime_ns == before:
            return


class Cuts:
    """The copies, each looked into as soon as it was made."""

    def __init__(self, folder):
        self.folder = folder
        self.image, self.live, self.dead = folder / "image", folder / "live", folder / "dead"
        self.count, self.lost = 0, []

    def prepare(self):
        """An empty disk."""
        self.live.mkdir()
        self.dead.mkdir()
        with self.image.open("wb") as image:
            image.truncate(SIZE)
        call(*MAKE, self.image)
        call(*MOUNT, self.image, self.live)
        (self.live / "data").mkdir()
        os.sync()

    def cut(self, received):
        """What would be there if the power went now?"""
        copy = self.folder / "copy"
        snapshot(self.image, copy)
        call(*MOUNT, copy, self.dead)
        try:
            check(self.dead / "data", received)
        except Exception as error:  # noqa: BLE001
            self.lost.append(f"{len(received)} acknowledged: {type(error).__name__} {str(error)[:200]}")
        finally:
            call("umount", self.dead)
            self.count += 1

    def play(self, mode):
        """A program on that disk, stopped at each call."""
        asked = {"scene": "posts", "folder": str(self.live / "data"), "mode": mode, "place": 0, "error": 0}
        process, reading = victim.start(asked)
        os.set_blocking(reading, False)
        heard, stops = b"", 0
        while os.WIFSTOPPED(os.waitpid(process, os.WUNTRACED)[1]):
            heard += hear(reading)
            if stops % 2 == 0:
                self.cut([json.loads(line) for line in heard.splitlines()])
            stops += 1
            os.kill(process, signal.SIGCONT)
        heard += hear(reading)
        assert json.loads(heard.splitlines()[-1])["what"] == "ended"


def hear(reading):
    """What was acknowledged since."""
    try:
        return os.read(reading, 1 << 20)
    except BlockingIOError:
        return b""


def main(folder, mode):
    cuts = Cuts(folder)
    cuts.prepare()
    cuts.play(getattr(disk, mode))
    call("umount", cuts.live)
    shutil.rmtree(folder)
    sys.stdout.write(json.dumps({"cuts": cuts.count, "lost": cuts.lost}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
