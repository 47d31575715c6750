"""The files that put Citebot on a server: read by their own checkers where these are installed, else by what they say."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = [
    (match[1], " ".join(match[2].split())) for match in re.finditer(r"^([A-Z]+) (.*)$", DOCKERFILE, flags=re.MULTILINE)
]
PORT = 8090


def steps(kind: str) -> list[str]:
    return [step for name, step in STEPS if name == kind]


def variables() -> dict[str, str]:
    """Return what the image sets in the environment."""
    return dict(pair.split("=", 1) for step in steps("ENV") for pair in step.split())


def test_the_image_holds_every_package_and_asks_its_own_port() -> None:
    copied = {step.split()[-1] for step in steps("COPY")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"benchmarks", "tests"}
    assert packages <= copied
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {f"!{name}" for step in steps("COPY") for name in step.split()[:-1]} <= set(ignored)
    assert variables()["CITEBOT_MONITORING__PORT"] == str(PORT)
    assert f":{PORT}/healthz" in steps("HEALTHCHECK")[0]


def test_a_checker_reads_the_dockerfile() -> None:
    assert f"--uid {steps('USER')[0]} " in steps("RUN")[0]
    if not _works("hadolint", "--version"):
        pytest.skip("hadolint is not installed")
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_services_fit_together() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    named = {mount.split(":")[0] for service in services.values() for mount in service["volumes"] if mount[0] != "."}
    assert named == set(compose["volumes"])
    inside = {mount.split(":")[1] for mount in services["citebot"]["volumes"]}
    assert {variables()["CITEBOT_CONFIG"], variables()["CITEBOT_DATA_DIR"]} <= inside
    assert {name for name, service in services.items() if "servers" in service.get("profiles", ())} == {
        "postgres",
        "chroma",
    }
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert f"chromadb=={services['chroma']['image'].split(':')[1]}\n" in lock


def test_compose_reads_its_file(tmp_path: pathlib.Path) -> None:
    if not _works("docker", "compose", "version"):
        pytest.skip("docker compose is not installed")
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    (tmp_path / ".env").write_text("TELEGRAM_BOT_TOKEN=1:A\n")
    command = ["docker", "compose", "--profile", "servers", "config", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_systemd_reads_the_unit(tmp_path: pathlib.Path) -> None:
    if not _works("systemd-analyze", "--version"):
        pytest.skip("systemd-analyze is not installed")
    text = (ROOT / "docs" / "citebot.service").read_text(encoding="utf-8")
    unit = tmp_path / "citebot.service"
    unit.write_text(text.replace("/opt/citebot/bin/citebot", sys.executable), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert "citebot.service" not in done.stderr, done.stderr


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_what_the_image_installs_starts(tmp_path: pathlib.Path) -> None:
    """Do what the Dockerfile does, in a folder of its own with an environment of its own."""
    app, home, data = tmp_path / "app", tmp_path / "srv", tmp_path / "data"
    for folder in (app, home / "documents", data):
        folder.mkdir(parents=True)
    for step in steps("COPY"):
        *sources, target = step.split()
        for source in sources:
            whole = ROOT / source
            if whole.is_dir():
                shutil.copytree(whole, app / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(whole, app / source)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    known = {name: value for name, value in os.environ.items() if not name.endswith("_TOKEN") and name != "PYTHONPATH"}
    env = {**known, **variables(), "PATH": f"{tmp_path / 'venv' / 'bin'}:{os.environ['PATH']}"}
    env |= {"CITEBOT_CONFIG": str(home / "citebot.toml"), "CITEBOT_DATA_DIR": str(data)}
    (install,) = (step for step in steps("RUN") if "pip" in step)
    subprocess.run(install, shell=True, cwd=app, env=env, check=True, capture_output=True, timeout=1500)
    (home / "documents" / "leave.md").write_text("# Leave\n\nFive days of leave can be carried over until 31 March.\n")
    source = 'name = "docs"\ntype = "files"\nknowledge_base = "docs"\npath = "./documents"\nschedule = "1h"\n'
    (home / "citebot.toml").write_text(f'[knowledge_bases.docs]\nreaders = ["*"]\n\n[[sources]]\n{source}')
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(json.loads(steps("CMD")[0]), cwd=home, env=env, stdout=log, stderr=log)
    try:
        health = json.loads(steps("HEALTHCHECK")[0].partition("CMD ")[2])
        _wait(lambda: _works_in(health, env) and b"1 document added" in (tmp_path / "log").read_bytes())
        asked = ["citebot", "ask", "How many days of leave can be carried over?"]
        answer = subprocess.run(asked, cwd=home, env=env, capture_output=True, text=True, check=True).stdout
        assert "Five days" in answer
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


def _works_in(command: list[str], env: dict[str, str]) -> bool:
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0


def _wait(holds: object, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.2)
