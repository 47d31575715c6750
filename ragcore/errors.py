"""Every error that Citebot raises on purpose.

    CitebotError
    ├── ConfigError              a setting or a file is wrong; names it and the mend
    ├── BusyError                another process holds the data directory
    ├── ClaimLost                another process answers this message now
    ├── SourceError              a source system could not be read
    │   ├── SourceAuthError          the credential is wrong or has expired
    │   ├── SourceRateLimited        it told us to wait
    │   ├── SourceGone               the document or place is no longer there
    │   ├── SourceUnreachable        no connection came about, or it broke off
    │   └── SourceBadReply           it answered with something that can't be used
    ├── ParseError               a document could not be read; carries reason and mend
    │   ├── EmptyDocument            it holds nothing that could be quoted
    │   └── NoSuchPage               it has no such page, or no such place on it
    ├── StoreError               a database or index failed
    │   ├── IndexDamaged             a derived index is dead and must be refilled
    │   └── EmbedderMismatch         vectors of another embedder stand in the index
    ├── PlatformError            a chat platform did not take a call
    │   ├── PlatformUnreachable      no connection, or an error of its own
    │   │   └── PlatformNotReached       no connection came about: nothing was taken
    │   ├── SendInDoubt              nobody can tell whether it was taken
    │   ├── PlatformAuthError        the token is wrong, or lacks a scope or an intent
    │   ├── PlatformRateLimited      it told us to wait; carries the wait
    │   ├── PlatformRefused          it does not take this content or this place
    │   ├── MessageGone              the message, channel or token that was to be used is no longer there
    │   └── StreamEnded              the stream takes no more; what it shows stands
    ├── ContextTooSmall          rules, reserve and question do not fit the model's window
    └── ModelError               a model did not do its work
        ├── ModelUnreachable         no connection, or no token in time
        ├── ModelAuthError           the key was refused
        ├── ModelRateLimited         asked to wait longer than we may; carries the wait
        ├── ModelContextTooLong      the endpoint counted more tokens than it takes
        ├── ModelRefused             the endpoint's policy stopped it
        ├── ModelWithoutTools        the endpoint takes no tools for this model
        ├── ModelBadOutput           the output does not have the form asked for; carries it
        └── ModelInterrupted         the stream broke after text had been shown

``retryable`` and ``user_message`` are facts of the class: what to do, and what whoever asked may be told. The text of
an exception is for the log and the operator; it never holds a secret.
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from ragcore.types import Usage


class CitebotError(Exception):
    """The root of every error raised on purpose."""

    retryable: ClassVar[bool] = False
    user_message: ClassVar[str] = "Something went wrong while answering."


class ConfigError(CitebotError):
    """A setting or a file named in the settings is wrong; the text names it and says how to mend it."""

    user_message = "The bot is not set up correctly."


class BusyError(CitebotError):
    """Another process holds the data directory."""

    retryable = True
    user_message = "Another process is working on the index."


class ClaimLost(CitebotError):
    """Another process answers this message now, or nobody shall: whoever worked on it sends nothing more."""


class SourceError(CitebotError):
    """A source system could not be read."""

    retryable = True
    user_message = "A source could not be read."

    def __init__(self, message: str, *, mend: str = "") -> None:
        """Keep what its owner can do about it, in one line; the text of the error tells it too."""
        super().__init__(f"{message}; {mend}" if mend else message)
        self.reason = message
        self.mend = mend


class SourceAuthError(SourceError):
    """The source refused the credential, or does not let it see what it should."""

    retryable = False


class SourceRateLimited(SourceError):
    """The source asked to wait."""

    def __init__(self, message: str, *, retry_after: float, mend: str = "") -> None:
        """Keep the wait, in seconds."""
        super().__init__(message, mend=mend)
        self.retry_after = retry_after


class SourceGone(SourceError):
    """What was asked for is no longer there."""

    retryable = False


class SourceUnreachable(SourceError):
    """No connection to the source came about, or it broke off."""


class SourceBadReply(SourceError):
    """The source answered with something that can't be used: another format, too much of it, a circle of redirects."""


class ParseError(CitebotError):
    """A document could not be read: why, in one line, and what its owner can do about it."""

    user_message = "A document could not be read."

    def __init__(self, reason: str, *, mend: str) -> None:
        """Keep the reason and the mend; both are shown in the sync report."""
        super().__init__(f"{reason} ({mend})")
        self.reason = reason
        self.mend = mend


class EmptyDocument(ParseError):
    """A document holds nothing that could be quoted: whatever stood in it before is gone at its source."""


class NoSuchPage(ParseError):
    """A document has no such page, or the page no such place: what was to be shown is of another version of it."""


class StoreError(CitebotError):
    """A database or an index failed."""

    user_message = "The index could not be read."


class IndexDamaged(StoreError):
    """A derived index is dead; it must be dropped and refilled from the database."""

    user_message = "The index is being rebuilt."


class EmbedderMismatch(StoreError):
    """The index holds vectors of another embedder."""


class PlatformError(CitebotError):
    """A chat platform did not take a call."""


class PlatformUnreachable(PlatformError):
    """There is no connection to the platform, or it answered with an error of its own."""

    retryable = True


class PlatformNotReached(PlatformUnreachable):
    """No connection to the platform came about, so that it took nothing."""


class SendInDoubt(PlatformError):
    """Nobody can tell whether the platform took what was sent, nor change it: sent again it might stand twice."""


class PlatformAuthError(PlatformError):
    """The platform refused the token, or a scope or an intent is missing; the text says which."""


class PlatformRateLimited(PlatformError):
    """The platform told us to wait."""

    retryable = True

    def __init__(self, message: str, *, retry_after: float) -> None:
        """Keep the wait in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class PlatformRefused(PlatformError):
    """The platform does not take this content, or not in this place; the same call would be refused again."""


class MessageGone(PlatformError):
    """The message, channel or token that was to be used is no longer there."""


class StreamEnded(PlatformError):
    """The stream of a reply takes no more text; what it shows stands, and can be changed as a message."""


class ContextTooSmall(CitebotError):
    """Rules, reserve and question do not fit the model's context window."""

    user_message = "The question is too long for the model."


class ModelError(CitebotError):
    """A model did not do its work."""

    user_message = "The language model did not answer."


class ModelUnreachable(ModelError):
    """No connection, a server fault, or no token in time."""

    retryable = True
    user_message = "The language model cannot be reached right now."


class ModelAuthError(ModelError):
    """The endpoint refused the key."""

    user_message = "The language model refused the bot's key."


class ModelRateLimited(ModelError):
    """The endpoint asked to wait longer than we may keep a person waiting."""

    retryable = True
    user_message = "The language model is busy."

    def __init__(self, message: str, *, retry_after: float | None) -> None:
        """Keep the wait in seconds, None when the endpoint did not tell it."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelContextTooLong(ModelError):
    """The endpoint counted more tokens than the model takes."""

    user_message = "The question and its documents are too long for the model."


class ModelRefused(ModelError):
    """The endpoint's content policy stopped the answer."""

    user_message = "The language model declined to answer."


class ModelWithoutTools(ModelError):
    """The endpoint does not take tools with a request, or not for this model."""

    user_message = "The language model cannot call tools."


class ModelBadOutput(ModelError):
    """The output does not have the form that was asked for."""

    def __init__(self, message: str, *, raw: str, usage: "Usage | None" = None) -> None:
        """Keep the output as it came, and what it took where that is known and counted nowhere else."""
        super().__init__(message)
        self.raw = raw
        self.usage = usage


class ModelInterrupted(ModelError):
    """The stream broke after text had been shown, so nothing was retried."""

    user_message = "The answer broke off."
