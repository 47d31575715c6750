"""The wheel as someone installs it: what it holds, what it declares, and an answer from another folder."""

import contextlib
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
import zipfile
from importlib.metadata import distribution, packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.modules import modules_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = {"bots", "ragcore", "connectors", "prompts"}


def run(*command: object, cwd: pathlib.Path, **options: object) -> str:
    # What is installed is meant, not a checkout that somebody's PYTHONPATH names.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=900,
        env=env,
        **options,
    )  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


def tracked() -> list[str]:
    return list(filter(None, run("git", "ls-files", "-z", cwd=ROOT).split("\0")))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    work = tmp_path_factory.mktemp("wheel")
    source = work / "source"
    # Built from a copy, so that no build folder appears in the checkout and only what is tracked can get in.
    for name in tracked():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", work]
    run(*pip, source, cwd=work)
    return next(work.glob("citebot-*.whl"))


def test_it_holds_the_packages_with_their_data_and_nothing_else(wheel: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    data = [name for name in tracked() if name.split("/")[0] in PACKAGES]
    assert not set(data) - set(names), "data files or modules are missing from the wheel"


def imported_packages() -> set[str]:
    """Return the roots of all that the packages import, however late, and wherever it comes from."""
    roots = {root for package in PACKAGES for module in modules_of(package).values() for root in module.imported}
    return roots - PACKAGES - set(sys.stdlib_module_names)


def test_it_declares_what_it_imports(wheel: pathlib.Path) -> None:
    metadata = zipfile.ZipFile(wheel).read(
        next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    )
    lines = metadata.decode().splitlines()
    required = [Requirement(line.partition(": ")[2]) for line in lines if line.startswith("Requires-Dist: ")]
    always = [one for one in required if one.marker is None]
    assert len(always) >= 20
    for one in always:
        assert one.specifier.contains(distribution(one.name).version, prereleases=True), one
    declared = {canonicalize_name(one.name) for one in required}
    homes = packages_distributions()
    for package in imported_packages() & set(homes):
        assert declared & {canonicalize_name(home) for home in homes[package]}, f"{package} is imported, not declared"


def answers(env: pathlib.Path, home: pathlib.Path) -> None:
    """Ask the installation in ``env`` about a folder of its own, and expect the citation."""
    (home / "handbook").mkdir(parents=True)
    (home / "handbook" / "leave.md").write_text(
        "# Leave\n\n## Carry-over\n\nUp to seven unused days may be carried over.\n"
    )
    (home / "citebot.toml").write_text(
        '[[sources]]\nname = "handbook"\ntype = "files"\nknowledge_base = "handbook"\npath = "handbook"\n'
    )
    where = run(env / "bin" / "python", "-c", "import bots; print(bots.__file__)", cwd=home)
    assert str(env / "lib") in where
    run(env / "bin" / "citebot", "sync", cwd=home)
    answer = json.loads(
        run(env / "bin" / "citebot", "ask", "How many unused days may be carried over?", "--json", cwd=home)
    )
    assert "seven unused days" in answer["answer"]
    assert [citation["document_id"] for citation in answer["citations"]] == ["handbook:leave.md"]


@pytest.mark.soak
def test_it_answers_from_another_folder(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    env = tmp_path / "env"
    run(sys.executable, "-m", "venv", "--without-pip", env, cwd=tmp_path)
    python = env / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, cwd=tmp_path)
    # The new environment sees the packages of this one, after its own: the installed wheel comes first.
    site = pathlib.Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    )
    (site / "packages_of_the_first.pth").write_text(sysconfig.get_path("purelib") + "\n")
    answers(env, tmp_path / "home")


def of_the_test_extra_alone() -> set[str]:
    """Return the names of the packages that only the extra "test" asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    always, extra = (
        {canonicalize_name(Requirement(one).name) for one in listed}
        for listed in (project["dependencies"], project["optional-dependencies"]["test"])
    )
    return extra - always - {"packaging", "pyyaml", "setuptools"}  # these come with others, or with Python


def demo(clone: pathlib.Path) -> tuple[str, float]:
    """Return what `make demo` says without a terminal, and how many seconds of a processor it took.

    Of a processor, since other tests have theirs beside it. Its first line must come within two seconds.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    began = time.monotonic()
    with subprocess.Popen(
        ["make", "demo"],
        cwd=clone,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert time.monotonic() - began < 2, "it is silent"
        shown = first + process.stdout.read()
    assert process.returncode == 0, shown
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return shown, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def demo_on_a_terminal(clone: pathlib.Path) -> str:
    """Return what `make demo` shows to somebody who asks one question and leaves."""
    terminal, child = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        ["make", "demo"],
        cwd=clone,
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": "100"},
    ) as process:
        os.close(child)
        os.write(terminal, b"What is the hotel limit in London?\n/quit\n")
        shown = b""
        with contextlib.suppress(OSError):  # what a terminal answers when nobody is left on its other side
            while data := os.read(terminal, 65536):
                shown += data
    os.close(terminal)
    assert process.returncode == 0, shown
    return shown.decode()


@pytest.mark.soak
def test_a_fresh_clone_installs_and_shows_the_demo(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    clone = tmp_path / "citebot"
    run("git", "clone", "--quiet", ROOT, clone, cwd=tmp_path)
    (first, _), (second, seconds) = demo(clone), demo(clone)
    for shown in (first, second):
        assert "\n2/3  Reading" in shown
        assert "\n3/3  Asking" in shown
        assert shown.count("\n› ") == 3, "three questions"
        assert re.findall(r"^\[\d\] ", shown, re.MULTILINE) == ["[1] "] * 3, "a numbered list under each answer"
        assert "24个月" in shown
    assert "Installing" in first
    assert "17 added" in first
    assert "Installing" not in second
    assert "17 unchanged" in second
    assert seconds < 10
    installed = json.loads(run(clone / ".venv/bin/python", "-m", "pip", "list", "--format", "json", cwd=clone))
    assert not {canonicalize_name(one["name"]) for one in installed} & of_the_test_extra_alone()
    shutil.rmtree(clone / "examples" / ".citebot")
    shown = demo_on_a_terminal(clone)
    assert re.search(r"━(?:\x1b\[[0-9;]*m|\s)*\d+/17", shown), "a progress bar"
    assert "/help lists the commands" in shown
    assert "£140 a night in London" in shown
    assert re.search(r"\x1b\]8;[^;]*;file://\S+travel-and-expenses\.md#hotels-and-meals", shown), "a link"
    # What the demo installed is all that the wheel asks for: the index of packages is out of reach.
    run(clone / ".venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--force-reinstall", "--no-deps",
        wheel, cwd=tmp_path)  # fmt: skip
    run(clone / ".venv/bin/python", "-m", "pip", "check", cwd=tmp_path)
    answers(clone / ".venv", tmp_path / "home")
