"""``doctor``."""

from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

from bots.cli.forms import check_form
from bots.cli.output import print_json, results
from bots.cli.reach import reach, read_settings
from bots.doctor import (
    check_data_dir,
    check_enriching,
    check_files,
    check_filters,
    check_prompts,
    check_readers,
    check_settings,
    check_tasks,
    mend_stores,
)
from bots.rendering.clean import clean, clean_line
from bots.rendering.terminal import Indented
from bots.requests import Check, Diagnose
from bots.settings import Settings
from ragcore.errors import BusyError, CitebotError, ConfigError, ModelError, StoreError

_SIGNS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


async def run_doctor(config: Path | None, *, repair: bool, as_json: bool) -> int:
    """Check everything that can be checked; 1 when a check failed."""
    console = None if as_json else results()
    checks = await _checks(config, repair=repair, console=console)
    if as_json:
        print_json([check_form(check) for check in checks])
    return int(any(check.state == "fail" for check in checks))


async def _checks(config: Path | None, *, repair: bool, console: Console | None) -> list[Check]:
    from bots.app.platforms import with_token

    checks: list[Check] = []

    def note(check: Check) -> None:
        checks.append(check)
        if console:
            _show(check, console)

    try:
        settings = read_settings(config)
    except ConfigError as error:
        note(Check(name="settings", state="fail", found=str(error), mend="mend these lines and run doctor again"))
        return checks
    data_dir = check_data_dir(settings.data_dir)
    named = (
        *check_tasks(settings),
        *check_filters(settings),
        *check_enriching(settings),
        *check_files(settings),
        *check_prompts(settings.prompts),
        *check_readers(settings, with_token(settings)),
    )
    for check in (check_settings(settings), *named, data_dir):
        note(check)
    if data_dir.state == "fail":
        return checks
    try:
        async with reach(settings, command="doctor") as gateway:
            async for event in gateway.run(Diagnose(repair=repair)):
                if isinstance(event, Check):
                    note(event)
    except StoreError as error:
        note(Check(name="stores", state="fail", found=str(error), mend=mend_stores(settings)))
    except ModelError as error:
        mend = "check [embedding] in the settings: base_url, model and the key"
        note(Check(name="embedder", state="fail", found=str(error), mend=mend))
    except BusyError as error:
        note(Check(name="lock", state="fail", found=str(error), mend="wait until it is done, or end it"))
    except CitebotError as error:
        note(Check(name="start", state="fail", found=str(error), mend="`citebot --debug doctor` shows where"))
    for check in await _platforms(settings):
        note(check)
    return checks


async def _platforms(settings: Settings) -> list[Check]:
    """Ask each platform that has a token; whatever is at the data, these are asked from here."""
    from bots.app.platforms import check_halves, check_platform, with_token

    checks = [*check_halves(settings)]
    checks += [check for name in with_token(settings) for check in await check_platform(name, settings)]
    none = Check(name="platforms", state="ok", found="none has a token: only the terminal is answered")
    return checks or [none]


def _show(check: Check, console: Console) -> None:
    sign, style = _SIGNS[check.state]
    first, *more = clean(check.found).splitlines() or [""]
    line = Text.assemble((f"{clean_line(check.name)}: ", "bold"), first)
    console.print(Indented(line, f"{sign} ", "    ", Style.parse(style)))
    for another in more:
        console.print(Indented(Text(another), "    ", "    "))
    if check.mend and check.state != "ok":
        console.print(Indented(Text(clean_line(check.mend)), "    → ", "      "))
