"""A cited passage as a picture cut from its page, as the platforms send it to whoever asks to see the passages."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A PNG; ``number`` is the citation's that readers saw, ``label`` names document and place, on one line."""

    number: int
    label: str
    png: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """Return a name for the file."""
        return f"passage-{self.number}.png"

    @property
    def caption(self) -> str:
        """Return what stands beside it, in plain words."""
        return f"[{self.number}] {self.label}"


class Picturing(Protocol):
    """Where a platform gets the pictures; implemented by the turn."""

    async def pictures(self, reference: str, readers: frozenset[str]) -> tuple[Picture, ...]:
        """Return the cited passages of an answer that these readers may read and that stand on pages, as pictures.

        They are few, small enough for each platform, and come within half a minute (``PictureLimits``); none when they
        are switched off, or nothing could be cut. Never raises.
        """
        ...
