"""The image and the compose file: what the Dockerfile starts is started here in the same way, with a read-only root."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from contextlib import contextmanager, suppress

import pytest
import typer
import yaml

from showandtell.cli.commands import app
from support.nodejs import need
from support.packages import add_to, built, run
from support.paths import ROOT
from support.s3_server import free_ports, wait_for

DEPLOY = ROOT / "docs" / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
#: The stage that is kept, with a line for each instruction.
IMAGE = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
#: With a deadline for a busy machine: the image's own is short, because Docker asks again.
HEALTH_CHECK = json.loads(re.sub(r"timeout=\d+", "timeout=60", re.search(r"HEALTHCHECK .*? CMD (\[.*\])", IMAGE)[1]))
USER = "10001"
TOKEN = "a-token-of-the-tests"  # noqa: S105 - it opens nothing
#: In a mount namespace: the environment, the data, the secrets and /tmp where the image has them; all else is read-only.
MOUNTS = """
set -eu
mount --bind {data} /mnt
mount -t tmpfs none /var/lib && mkdir /var/lib/showandtell && mount --move /mnt /var/lib/showandtell
mount -t tmpfs none /opt && mkdir /opt/showandtell && mount --bind {environment} /opt/showandtell
mount -t tmpfs none /run && mkdir /run/secrets && cp {secrets}/* /run/secrets
mount -t tmpfs none /usr/local/bin && cp {deploy}/with-secrets /usr/local/bin
mount -t tmpfs -o mode=1777 none /tmp
for folder in / /opt /opt/showandtell /run /usr/local/bin /var/lib; do mount -o remount,bind,ro $folder; done
cd /var/lib/showandtell
exec {command}
"""


def instruction(name):
    """What follows an instruction of the image."""
    (found,) = re.findall(rf"^{name} (.*)$", IMAGE, re.MULTILINE)
    return found


def mounting(script):
    """The command that runs a script in a mount namespace of its own."""
    own = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *own, "sh", "-c", script]


def as_user(command):
    """The command as the image's user, if we may choose one: the Python of the environment must be readable then."""
    if os.geteuid():
        return command
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--bounding-set=-all", *command]


def readable_python():
    """A Python that the image's user can start."""
    found = filter(None, [sys.executable, shutil.which("python3", path="/usr/bin")])
    return next((path for path in found if run(as_user(["sh", "-c", f"{path} -c pass"]), ROOT).returncode == 0), None)


@contextmanager
def container(folder):
    """The image's command in an environment with its extras; gives its variables."""
    need(run(mounting("mount -t tmpfs none /mnt"), ROOT).returncode == 0, "mounts can't be made here")
    python = need(readable_python(), "no Python here can be started by another user")
    extras = re.search(r"^ARG EXTRAS=(.*)$", DOCKERFILE, re.MULTILINE)[1]
    requirement = f"showandtell[{extras}] @ {built().wheel.as_uri()}"
    add_to(folder / "env", requirement, "--constraint", str(ROOT / "requirements.txt"), python=python)
    for name in ("data", "secrets"):
        (folder / name).mkdir()
        shutil.chown(folder / name, int(USER) if os.geteuid() == 0 else None)
    (folder / "secrets" / "SHOWANDTELL_TOKEN").write_text(TOKEN)
    (folder / "secrets" / "SHOWANDTELL_SECRET").write_text("s" * 40)
    (port,) = free_ports(1)
    variables = dict(part.split("=", 1) for part in shlex.split(instruction("ENV").replace("$PATH", os.defpath)))
    variables["PATH"] = f"{variables['PATH']}:/usr/local/bin"
    variables |= {"SHOWANDTELL_HOST": "127.0.0.1", "SHOWANDTELL_PORT": str(port), "SHOWANDTELL_HOSTS": "localhost"}
    variables["TEST_RUN_FOLDER"] = os.environ["TEST_RUN_FOLDER"]
    command = [*json.loads(instruction("ENTRYPOINT")), *json.loads(instruction("CMD"))]
    paths = {"data": folder / "data", "environment": folder / "env", "secrets": folder / "secrets", "deploy": DEPLOY}
    script = MOUNTS.format(command=shlex.join(as_user(command)), **paths)
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(mounting(script), env=variables, stdout=log, stderr=log) as server,  # noqa: S603 - our own
    ):
        try:
            with suppress(RuntimeError):
                wait_for(server, port)
            assert server.poll() is None, (folder / "log").read_text()
            yield variables
        finally:
            server.terminate()


def test_the_image_serves_on_a_read_only_root_as_its_user_and_its_health_check_passes(tmp_path):
    with container(tmp_path) as variables:
        port = variables["SHOWANDTELL_PORT"]
        done = run([sys.executable, *HEALTH_CHECK[1:]], ROOT, SHOWANDTELL_PORT=port)
        assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
        message = {"id": "m", "role": "user", "parts": [{"type": "text", "text": '/chart title="It" values=1,2'}]}
        body = json.dumps({"id": "one", "messages": [message]}).encode()
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        request = urllib.request.Request(f"http://localhost:{port}/api/chat", body, headers)
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - loopback
            assert b"chart.png" in response.read()
    assert (tmp_path / "data" / "showandtell.db").stat().st_uid in {int(USER), os.geteuid()}
    assert not list((tmp_path / "data").glob("secret")), "the secret is that of the file"


def test_the_health_check_fails_if_nothing_serves():
    assert run([sys.executable, *HEALTH_CHECK[1:]], ROOT, SHOWANDTELL_PORT=str(free_ports(1)[0])).returncode != 0


def test_the_image_has_another_user_no_secret_and_only_what_the_build_left():
    assert instruction("USER") == USER
    assert re.findall(r"^COPY (.*)$", IMAGE, re.MULTILINE) == [
        "--from=build /opt/showandtell /opt/showandtell",
        "docs/deploy/with-secrets /usr/local/bin/with-secrets",
    ]
    assert not re.search(r"KEY|SECRET|TOKEN|PASSWORD", DOCKERFILE)


def test_variables_of_the_compose_file_are_read_by_the_server_or_its_libraries():
    params = typer.main.get_command(app).commands["serve"].params
    known = {param.envvar for param in params} | {"SHOWANDTELL_SECRET"}
    chat = COMPOSE["services"]["chat"]
    names = {*chat["environment"], *chat["secrets"]}
    assert {name for name in names if name.startswith("SHOWANDTELL_")} <= known
    assert {name for name in names if not name.startswith("SHOWANDTELL_")} == {
        *("AWS_ACCESS_KEY_ID", "AWS_ALLOW_HTTP", "AWS_ENDPOINT", "AWS_REGION", "AWS_SECRET_ACCESS_KEY"),
        *("ANTHROPIC_API_KEY", "PGPASSWORD"),
    }


def test_each_service_is_hardened_healthy_before_others_start_and_pinned():
    services = COMPOSE["services"]
    for name, service in services.items():
        assert service["read_only"]
        assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
        assert name == "chat" or ("healthcheck" in service and re.search(r":\d", service["image"]))
        for other, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert "healthcheck" in services[other]
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= set(COMPOSE["volumes"])


def make_secrets(folder):
    """The secrets by name, after the script has run there."""
    assert run(["sh", str(folder / "make-secrets")], folder).returncode == 0
    return {path.name: path.read_text() for path in (folder / "secrets").iterdir()}


def test_the_script_makes_all_secrets_once_and_the_entry_point_gives_them_as_variables(tmp_path):
    shutil.copy(DEPLOY / "make-secrets", tmp_path)
    texts = make_secrets(tmp_path)
    assert make_secrets(tmp_path) == texts
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert {f"secrets/{name}" for name in texts} == {secret["file"] for secret in COMPOSE["secrets"].values()}
    (identity,) = json.loads(texts["s3.json"])["identities"]
    assert identity["credentials"][0]["secretKey"] == texts["AWS_SECRET_ACCESS_KEY"]
    done = run(["sh", str(DEPLOY / "with-secrets"), "env"], tmp_path, SECRETS=str(tmp_path / "secrets"))
    assert f"PGPASSWORD={texts['PGPASSWORD']}\n" in done.stdout
    assert "s3.json" not in done.stdout
    assert "ANTHROPIC_API_KEY" not in done.stdout, "an empty file sets nothing"


@pytest.mark.skipif(run(["sh", "-c", "docker compose version"], ROOT).returncode != 0, reason="no docker compose here")
def test_docker_takes_the_compose_file(tmp_path):
    done = run(["docker", "compose", "--file", str(DEPLOY / "compose.yaml"), "config", "--quiet"], tmp_path)
    assert done.returncode == 0, done.stderr
