"""Programs killed, stopped or refused at every call that changes the disk: nothing acknowledged is lost (promises F)."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import disk
import pytest
from durable import check, is_unknown, ran, resumed

HERE = Path(__file__).parent
OWN_MOUNTS = ("unshare", "--mount")
OWN_DISKS = ("unshare", "--map-root-user", "--mount")


@pytest.fixture(scope="module")
def victims():
    with disk.Victims() as running:
        yield running


def sweep(victims, scenario, folder, *, step=1, **what):
    """Play a scenario again and again, each time meeting the disk at another call; gives (folder, what it told)."""
    calls = victims.play(scenario, folder / "whole")[-1]["calls"]
    for place in range(1, calls + 1, step):
        mode = what.get("mode") or (disk.TEAR if place % 2 else disk.KILL)
        there = folder / str(place)
        yield there, victims.play(scenario, there, mode, place, what.get("error", 0))
        shutil.rmtree(there)


def test_whenever_a_program_is_killed_all_that_it_acknowledged_is_there_and_nothing_is_torn(victims, tmp_path):
    kills = young = 0
    for folder, received in sweep(victims, "posts", tmp_path):
        assert received[-1:] != [{"what": "ended"}]
        check(folder, received)
        kills += 1
        young += not received
    assert kills >= 300
    assert young >= 50  # while the tables were made: they are there afterwards, or are made again
    print(f"{kills} kills, {young} of them during the migration")  # noqa: T201


def test_a_tool_ran_once_at_most_whenever_its_program_was_killed(victims, tmp_path):
    kills = unknown = 0
    for folder, received in sweep(victims, "run", tmp_path):
        before = ran(folder)
        messages = check(folder, received, resume=resumed(folder))
        is_lost = is_unknown(messages)
        assert ran(folder) == (before if is_lost else 1)
        assert before <= 1
        kills, unknown = kills + 1, unknown + is_lost
    assert kills >= 200
    assert unknown >= 10
    print(f"{kills} kills, {unknown} of them with an unknown outcome")  # noqa: T201


@pytest.mark.parametrize("mode", [disk.ERROR, disk.ERRORS], ids=["once", "from then on"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT], ids=errno.errorcode.get)
def test_a_disk_that_fails_is_reported_so_and_all_goes_on_once_it_works(victims, tmp_path, mode, error):
    failures, reported = 0, set()
    for folder, received in sweep(victims, "posts", tmp_path, step=6, mode=mode, error=error):
        assert received[-1]["what"] == "ended", received
        check(folder, received)
        failed = {item["error"] for item in received if item["what"] == "failed"}
        assert failed <= {"StorageFull", "StorageFailed"}
        failures, reported = failures + bool(failed), reported | failed
    assert failures >= (25 if mode == disk.ERROR else 50)
    assert "StorageFull" in reported or error == errno.EIO
    print(f"{failures} failures")  # noqa: T201


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is needed to count for us")
def test_no_call_that_the_kernel_sees_is_left_out_of_the_kill_points(tmp_path):
    (tmp_path / "data").mkdir()
    script = "import sys; sys.path[1:1] = sys.argv[1:3]; import victim, os; from pathlib import Path\n"
    script += "victim.play({'scene': 'posts', 'folder': sys.argv[3], 'mode': 0, 'place': 0, 'error': 0}, 1)"
    seen = (
        "trace=write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,fallocate"
    )
    command = ["strace", "-f", "-y", "-o", tmp_path / "log", "-e", seen + ",mkdir,mkdirat,chmod,fchmod,fchmodat,writev"]
    paths = [HERE, HERE.parent / "tests", tmp_path / "data"]
    done = subprocess.run(  # noqa: S603
        [*command, sys.executable, "-c", script, *paths], env=disk.surroundings(), capture_output=True, check=True
    )
    counted = json.loads(done.stdout.splitlines()[-1])["calls"]
    seen = [line for line in (tmp_path / "log").read_text().splitlines() if str(tmp_path / "data") in line]
    made = [line for line in seen if "resumed>" not in line]
    assert len(made) <= counted
    assert len(made) >= 300


def in_a_namespace(apart, script, *given, env=None):
    """What a script printed that ran with mounts of its own."""
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:  # noqa: S603
        pytest.skip("mounts of one's own are not available here")
    command = [*apart, sys.executable, HERE / script, *given]
    done = subprocess.run(command, check=True, capture_output=True, env=env)  # noqa: S603
    return json.loads(done.stdout)


def test_a_disk_of_4_mb_that_is_full_loses_nothing_and_is_used_again_once_there_is_room():
    received = in_a_namespace(OWN_DISKS, "small_disk.py")
    assert received["errors"] == ["StorageFull"] * 3
    assert received["acknowledged"] >= 10
    assert (received["lost"], received["damaged"]) == (0, 0)


def test_on_a_disk_without_a_byte_left_conversations_and_files_can_be_deleted(tmp_path):
    (tmp_path / "disk").mkdir()
    received = in_a_namespace(OWN_DISKS, "full_disk.py", tmp_path / "disk")
    status, words = received["ask"]
    assert (status, "delete conversations or free space" in words or "has no room left" in words) == (1, True)
    assert [received[step][0] for step in ("delete", "delete file", "fsck", "restored")] == [0, 0, 0, 0]
    assert received["reserved"] == received["reserved again"] == 4 * 1024 * 1024
    assert received["left"] == 2
    assert received["upload"][0] == 507
    assert received["deleted"] == [204, 204]


def cut_power(mode, folder):
    if os.geteuid() or not Path("/dev/loop-control").exists() or not shutil.which("mkfs.ext4"):
        pytest.skip("images can be mounted by root alone, with a loop device and mkfs.ext4")
    return in_a_namespace(OWN_MOUNTS, "power_cut.py", folder, mode, env=disk.surroundings())


def test_whenever_the_power_is_cut_all_that_was_acknowledged_is_on_the_disk(tmp_path):
    received = cut_power("STOP", tmp_path)
    assert received["lost"] == []
    assert received["cuts"] >= 200
    print(f"{received['cuts']} cuts")  # noqa: T201


def test_the_same_cuts_lose_much_where_nothing_is_synced(tmp_path):
    received = cut_power("UNSYNCED", tmp_path)
    assert len(received["lost"]) >= 100
