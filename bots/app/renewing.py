"""The keys of a source as its settings' file has them now: a changed credential needs no restart."""

import logging
from dataclasses import dataclass
from pathlib import Path

from bots.settings import Settings, SourceSettings, load_settings
from connectors.registry import options_model
from ragcore.errors import ConfigError

log = logging.getLogger(__name__)


def current(settings: Settings, source: SourceSettings) -> SourceSettings:
    """Return the source with the keys of its type as the file has them now; blocks while that is read.

    It is as it was at the start while the file cannot be read or is wrong, and where its type or knowledge base have
    changed: these want a restart, as all else does.
    """
    for one in _sources(settings.file) if settings.file else ():
        if (one.name, one.type, one.knowledge_base) == (source.name, source.type, source.knowledge_base):
            return one
    return source


@dataclass(frozen=True, slots=True)
class _Read:
    """The sources that a file last had without a fault, and of which time and size it was when it was looked at."""

    stamp: tuple[int, int]
    sources: tuple[SourceSettings, ...] = ()


_READ: dict[Path, _Read] = {}
"""By file: there is one in a process, and several where tests have theirs."""


def _sources(file: Path) -> tuple[SourceSettings, ...]:
    last = _READ.get(file, _Read((0, 0)))
    try:
        status = file.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != last.stamp:
            _READ[file] = _Read(stamp, last.sources)  # told once, where it is wrong
            _READ[file] = _Read(stamp, load_settings(file, source_model=options_model).sources)
    except (OSError, ConfigError) as error:
        log.warning("%s has changed and is wrong; sources go on with what they have: %s", file, error)
    return _READ.get(file, last).sources
