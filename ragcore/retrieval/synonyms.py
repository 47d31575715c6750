"""The synonym file: words that mean the same where this bot works, one group a line.

    vacation, annual leave, PTO
    年假, 带薪休假, 年休假

Lines that begin with ``#`` are remarks. A member may be a phrase: it is met when all its terms stand in a chunk.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcore.errors import ConfigError
from ragcore.terms import Kind, Term, terms

_SEPARATORS = str.maketrans("，、;；", ",,,,")


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonyms:
    """Groups by member; a member is the tuple of its terms' texts, in order. ``written`` is how the file has it."""

    groups: Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]]
    written: Mapping[tuple[str, ...], str]
    longest: int

    @classmethod
    def none(cls) -> "Synonyms":
        """Return a table without any."""
        return cls(groups={}, written={}, longest=0)

    @classmethod
    def load(cls, path: Path) -> "Synonyms":
        """Read a file in UTF-8.

        Raises:
            ConfigError: It cannot be read, or is not text.
        """
        try:
            return cls.parse(path.read_text(encoding="utf-8-sig").splitlines())
        except FileNotFoundError as error:
            raise ConfigError(f"the synonym file {path} is not there; check [answer] synonyms") from error
        except OSError as error:
            raise ConfigError(f"the synonym file {path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"the synonym file {path} is not text in UTF-8") from error

    @classmethod
    def parse(cls, lines: Iterable[str]) -> "Synonyms":
        """Read lines; a word in several groups has the members of all of them."""
        groups: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
        written: dict[tuple[str, ...], str] = {}
        for line in lines:
            if line.lstrip().startswith("#"):
                continue
            words = (word.strip() for word in line.translate(_SEPARATORS).split(","))
            named = {key: word for word in words if (key := member_key(terms(word)))}
            written |= named
            known = list(named)
            for member in known:
                others = tuple(other for other in known if other != member)
                groups[member] = tuple(dict.fromkeys((*groups.get(member, ()), *others)))
        return cls(groups=groups, written=written, longest=max(map(len, groups), default=0))

    def of(self, member: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
        """Return the other members of a member's groups."""
        return self.groups.get(member, ())


def member_key(found: Sequence[Term]) -> tuple[str, ...]:
    """Return the terms by which a word or phrase is known: wholes rather than parts, pairs rather than characters."""
    pairs = any(term.kind is Kind.PAIR for term in found)
    dropped = {Kind.PART, Kind.CHARACTER} if pairs else {Kind.PART}
    return tuple(term.text for term in found if term.kind not in dropped) or tuple(term.text for term in found)
