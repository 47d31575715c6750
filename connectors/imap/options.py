"""The settings of the source type ``imap``."""

import importlib.util
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options
from connectors.cursors import basis_of
from connectors.patterns import Patterns
from connectors.readers import readers_of

PARTICIPANTS = "participants"
_RENDERING = "2"
"""Raised when documents are written another way: then all is read again."""
_TAKEN = "2"
"""Raised when others are taken of a mail: then all headers are read again."""
_PORTS = {"tls": 993, "starttls": 143, "none": 143}


class ImapOptions(Options):
    """The mails of a mailbox that IMAP reads: a support team's, a mailing list's archive.

    A thread is one document, oldest mail first, that grows: mails belong together that name one another in
    `References` or `In-Reply-To`, whichever folders they stand in, so the team's answers from the sent folder stand
    below the questions. A mail's plain text is read, else its HTML; signatures, footers of mailing lists, and what a
    reply repeats of a mail in the same thread are left out. A forwarded mail is kept whole.

    What is attached is a document of its own, where it is in a format that is read, as its name, its type or else its
    first bytes tell; pictures, signatures and invitations are left out. `attachment_names` says otherwise. What is
    larger than `max_megabytes` is named and not downloaded.

    A mail has no address on the web, so answers tell a thread's title alone, unless `link` says where the mails stand:
    `https://mail.google.com/mail/u/0/#search/rfc822msgid:{message_id}`, or the page of a list's archive.

    Mails don't say who else may read them, so `readers` has no default. `["*"]` is whoever may read the knowledge base,
    `["slack:T0123/C0456"]` one channel, `["participants"]` those who stand as sender or receiver on every mail of the
    thread (an attachment: of its mail), known by the e-mail address that the chat platform vouches for.

    Folders are taken all but the trash, junk, drafts and those that only show other folders' mails again (on Gmail
    `Starred`, `Important`), which are told by their special use (RFC 6154), else by their usual names. Such a folder is
    read where `folders` names it without a wildcard. A mail that stands in several folders counts once, and a moved one
    is the same. Mails that are marked as deleted, and drafts, are left out.

    A run asks each folder what has changed (one or two short questions where nothing has), reads the headers of new
    mails, and the text of the threads that they belong to. A folder that the server has numbered anew (another
    UIDVALIDITY) is looked through again; documents are known by `Message-ID`, so what is the same is neither downloaded
    nor embedded again. What a run remembers takes some 80 bytes a mail. Needs `pip install 'citebot[imap]'`.
    """

    host: str = Field(min_length=1, description="the server, such as `imap.example.org`")
    user: str = Field(min_length=1, description="the name to log in with, mostly the e-mail address")
    password: SecretStr | None = Field(
        default=None, description="the password, or one for apps alone: `${MAIL_PASSWORD}`"
    )
    token: SecretStr | None = Field(
        default=None, description="in the place of a password: an access token for OAuth 2 (XOAUTH2)"
    )
    token_url: str = Field(
        default="", description="in the place of both: where access tokens are asked for anew, as OAuth 2 has it"
    )
    client_id: str = Field(default="", description="with `token_url`: the id of the app that is registered there")
    client_secret: SecretStr | None = Field(default=None, description="with `token_url`: the app's secret")
    refresh_token: SecretStr | None = Field(
        default=None, description="with `token_url`: the token by which a user allowed it; default: the app's own right"
    )
    scope: str = Field(default="", description="with `token_url`: the scope that is asked for")
    readers: tuple[str, ...] = Field(
        description="who may read the mails, as in the settings of a knowledge base, or `participants`"
    )
    security: Literal["tls", "starttls", "none"] = Field(
        default="tls", description="how the connection is encrypted; `none` only on this machine"
    )
    port: int | None = Field(default=None, gt=0, lt=65_536, description="default 993, without `tls` 143")
    folders: Patterns = Field(
        default=(), description="patterns of the folders to take, `/` between their parts: `Support/**`; default: all"
    )
    exclude: Patterns = Field(default=(), description="patterns of folders to leave out")
    days: int = Field(default=0, ge=0, le=36_500, description="how many days back mails are read; 0: all")
    attachments: bool = Field(default=True, description="whether what is attached is read")
    attachment_names: Patterns = Field(
        default=(), description="patterns of the names of attachments to take; default: all in a format that is read"
    )
    link: str = Field(
        default="", description="where a reader finds a mail: an address with `{message_id}` in it; default: nowhere"
    )
    max_megabytes: float = Field(
        default=20, gt=0, description="larger texts, of a thread together, and attachments are reported, not read"
    )
    timeout: float = Field(default=60, gt=0, le=500, description="seconds that the server may take for an answer")

    @field_validator("host")
    @classmethod
    def _is_host(cls, host: str) -> str:
        if importlib.util.find_spec("imapclient") is None:
            raise ValueError("mail needs imapclient: pip install 'citebot[imap]'")
        if "/" in host or "@" in host or any(map(str.isspace, host)):
            raise ValueError('must be the name of a server alone, such as "imap.example.org"')
        return host

    @field_validator("user")
    @classmethod
    def _is_user(cls, user: str) -> str:
        if not user.isprintable():
            raise ValueError("must be one line of printable characters")
        return user

    @field_validator("readers")
    @classmethod
    def _are_readers(cls, readers: tuple[str, ...]) -> tuple[str, ...]:
        others = readers_of([reader for reader in readers if reader != PARTICIPANTS])
        return (*sorted(others), *({PARTICIPANTS} & set(readers)))

    @field_validator("token_url")
    @classmethod
    def _is_safe(cls, url: str) -> str:
        local = url.startswith(("http://127.0.0.1:", "http://localhost:"))
        if url and not url.startswith("https://") and not local:
            raise ValueError('must be an address such as "https://login.example.org/oauth2/token"')
        return url

    @field_validator("link")
    @classmethod
    def _has_place(cls, link: str) -> str:
        if link and ("{message_id}" not in link or not link.startswith(("https://", "http://"))):
            raise ValueError(
                'must be an address with {message_id} in it, such as "https://lists.example.org/{message_id}"'
            )
        return link

    @model_validator(mode="after")
    def _one_credential(self) -> "ImapOptions":
        if [self.password is not None, self.token is not None, bool(self.token_url)].count(True) != 1:
            raise ValueError("name `password`, `token` or `token_url`, one of them")
        told = (self.client_id, self.client_secret, self.refresh_token, self.scope)
        if not self.token_url and any(told):
            raise ValueError("`client_id`, `client_secret`, `refresh_token` and `scope` want a `token_url`")
        if self.token_url and not (self.client_id and (self.client_secret or self.refresh_token)):
            raise ValueError("`token_url` wants a `client_id`, and a `client_secret` or a `refresh_token`")
        local = self.host in {"localhost", "::1"} or self.host.startswith("127.")
        if self.security == "none" and not local:
            raise ValueError('`security = "none"` would send the password unencrypted; use "starttls" or "tls"')
        return self

    @property
    def address(self) -> str:
        """Return server and port, as an error names them."""
        return f"{self.host}:{self.port or _PORTS[self.security]}"

    @property
    def number(self) -> int:
        """Return the port."""
        return self.port or _PORTS[self.security]

    @property
    def most_bytes(self) -> int:
        """Return how large a text or an attachment may be."""
        return int(self.max_megabytes * 1_000_000)

    def since(self) -> date | None:
        """Return from which day on mails are read, None: from the first."""
        return (datetime.now(UTC) - timedelta(days=self.days)).date() if self.days else None

    def basis(self) -> str:
        """Return what changes when others would be taken of a mail: then what was remembered is of no use."""
        return basis_of(_RENDERING, _TAKEN, self.attachments, self.attachment_names, self.max_megabytes)

    def manner(self) -> str:
        """Return what changes when a document would be written another way, or be read by others."""
        return basis_of(_RENDERING, self.readers, self.link, self.max_megabytes)
