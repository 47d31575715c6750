"""Of what kind the fault was that ended a run."""

from ragcore.errors import CitebotError, SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited
from ragcore.reports import Fault

_FAULTS: tuple[tuple[type[CitebotError], Fault], ...] = (
    (SourceAuthError, Fault.AUTH),
    (SourceRateLimited, Fault.RATE_LIMITED),
    (SourceGone, Fault.GONE),
    (SourceBadReply, Fault.BAD_REPLY),
    (SourceError, Fault.UNREACHABLE),
)


def kind_of(error: CitebotError) -> Fault:
    """Return the kind of an error that ended a run; what isn't the source's fault is OTHER."""
    return next((fault for kind, fault in _FAULTS if isinstance(error, kind)), Fault.OTHER)
