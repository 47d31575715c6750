"""The version of an issue, pull or merge request or discussion: what a list tells of it, and its newest comment."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """``updated`` and ``comments`` as a list tells them, ``newest`` the time of the newest comment that was read."""

    salt: str
    updated: str
    comments: str
    newest: str = ""

    @classmethod
    def of(cls, *, salt: str, updated: datetime, comments: int | None, exact: bool = False) -> "Stamp":
        """Return the stamp of an entry of a list.

        Args:
            salt: What stands for all that isn't told by the list.
            updated: When it was changed last.
            comments: How many there are; None: the list doesn't count them.
            exact: Whether the forge tells times in parts of a second.
        """
        at = told_exactly(updated) if exact else told(updated)
        return cls(salt=salt, updated=at, comments="" if comments is None else str(comments))

    @classmethod
    def from_version(cls, version: str) -> "Stamp":
        """Return the stamp that a version is, one of nothing when it is none."""
        parts = [*version.split(" "), "", "", "", ""]
        return cls(salt=parts[0], updated=parts[1], comments=parts[2].removeprefix("-"), newest=parts[3])

    @property
    def version(self) -> str:
        """The stamp as text."""
        return f"{self.salt} {self.updated} {self.comments or '-'} {self.newest}".rstrip()

    def with_newest(self, newest: datetime | None) -> "Stamp":
        """Return it with the time of the newest comment."""
        return replace(self, newest=told(newest) if newest else "")

    def tells_of(self, other: "Stamp") -> bool:
        """Tell whether an entry of a list, which knows no comments' times, is what this was read of."""
        return (self.salt, self.updated, self.comments) == (other.salt, other.updated, other.comments)

    def has(self, comment: datetime) -> bool:
        """Tell whether a comment of this time was read."""
        return bool(self.newest) and self.newest >= told(comment)


def told(moment: datetime) -> str:
    """Return a time in whole seconds, as GitHub writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def told_exactly(moment: datetime) -> str:
    """Return a time with all that is told of its second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
