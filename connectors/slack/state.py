"""What a source of Slack remembers between runs, and the cursor it is written into."""

import json
from dataclasses import asdict, dataclass, field

from connectors.cursors import basis_of
from connectors.slack.options import SlackOptions

_FORM = 1


@dataclass(slots=True, kw_only=True)
class Memory:
    """What is known of one channel.

    ``newest`` is the newest message when it was last read to the end. ``whole`` is when the last finished reading of
    the whole history began (seconds since 1970, by our clock), ``began`` when the one under way did (0: none), which
    has come down to ``reached``, from ``top``. ``empty`` are the threads in which nothing is kept, with their versions.
    """

    name: str = ""
    readers: list[str] = field(default_factory=list)
    newest: str = ""
    whole: float = 0.0
    began: float = 0.0
    top: str = ""
    reached: str = ""
    empty: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class State:
    """The memories of channels, and the names (of people, channels, groups) by id that documents are shown with."""

    basis: str
    channels: dict[str, Memory] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def to_cursor(self, calls: int = 0) -> str:
        """Return it as text; ``calls`` makes it another one where nothing else does, as a sign that it goes on."""
        plain = {
            "form": _FORM,
            "basis": self.basis,
            "names": self.names,
            "channels": {native: asdict(memory) for native, memory in sorted(self.channels.items())},
        }
        return json.dumps(plain | ({"calls": calls} if calls else {}), separators=(",", ":"))

    @classmethod
    def from_cursor(cls, cursor: str | None, options: SlackOptions) -> "State":
        """Return what a cursor holds; nothing when there is none, or it is of other settings or another form."""
        basis = _basis(options)
        try:
            plain = json.loads(cursor or "{}")
            if (plain["form"], plain["basis"]) != (_FORM, basis):
                return cls(basis=basis)
            channels = {str(native): Memory(**memory) for native, memory in plain["channels"].items()}
            return cls(basis=basis, channels=channels, names=dict(plain["names"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls(basis=basis)


def _basis(options: SlackOptions) -> str:
    """Return what changes when the whole history is due again."""
    return basis_of(options.days, options.since, options.bots, options.api_url)
