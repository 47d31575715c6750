"""The settings that all source types of Atlassian's products have: the site, the credential, and who people are."""

import base64
import re
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options
from connectors.http.urls import server_parts
from connectors.readers import Readers

_CLOUD = (".atlassian.net", ".jira.com", ".atlassian.com")
_PAGE = re.compile(r"/(?:rest|spaces|display|browse|pages|projects|secure)(?:/.*)?$")
_GATEWAY = re.compile(r"/ex/(?:confluence|jira)/[0-9A-Za-z-]+")
"""Where tokens with scopes are used: ``https://api.atlassian.com/ex/confluence/CLOUD-ID``."""
_ADDRESS = re.compile(r"[^\s@{}]+@[^\s@{}]+\.[^\s@{}]+")


class AtlassianOptions(Options):
    """A site of Atlassian's Cloud, or a Data Center or Server of one's own."""

    url: str = Field(
        description="the site, such as `https://example.atlassian.net`, or a server of your own with its path, "
        "such as `https://wiki.example.org/confluence`"
    )
    token: SecretStr = Field(
        description="with `email` an API token of that account (Cloud), else a personal access token (Data Center)"
    )
    email: str = Field(default="", description="Cloud: the address of the account that the token belongs to")
    emails: dict[str, str] = Field(
        default_factory=dict,
        description="addresses of people whose own isn't told, by account id or (Data Center) user name: "
        '`{"5b10ac8d82e05b22cc7d4ef5" = "ann@example.org"}`',
    )
    username_email: str = Field(
        default="",
        description='Data Center: how addresses follow from user names, such as `"{username}@example.org"`, where '
        "none is told",
    )
    readers: Readers = Field(
        default=None,
        description="who may read what isn't restricted, as in a knowledge base; default: whoever reads the knowledge "
        "base",
    )

    @field_validator("url")
    @classmethod
    def _is_site(cls, url: str) -> str:
        parts = server_parts(url, example="https://example.atlassian.net")
        # What people copy is the address of a page.
        path = _PAGE.sub("", parts.path.rstrip("/"))
        if (parts.hostname or "").endswith(_CLOUD):
            gateway = _GATEWAY.match(parts.path)
            path = gateway[0] if gateway else ""
        return f"{parts.scheme}://{parts.netloc}{path}"

    @field_validator("token")
    @classmethod
    def _is_given(cls, token: SecretStr) -> SecretStr:
        if not token.get_secret_value().strip():
            raise ValueError("is empty")
        return token

    @field_validator("emails")
    @classmethod
    def _are_addresses(cls, emails: dict[str, str]) -> dict[str, str]:
        for account, address in emails.items():
            if not _ADDRESS.fullmatch(address):
                raise ValueError(f'"{address}" of {account} is no e-mail address')
        return {account: address.lower() for account, address in emails.items()}

    @field_validator("username_email")
    @classmethod
    def _has_a_place(cls, pattern: str) -> str:
        if pattern and (pattern.count("{username}") != 1 or set(pattern.replace("{username}", "")) & set("{} ")):
            raise ValueError('must hold {username} once, such as "{username}@example.org"')
        return pattern

    @model_validator(mode="after")
    def _says_who(self) -> "AtlassianOptions":
        host = urlsplit(self.url).hostname or ""
        if host.endswith(_CLOUD) and not self.email:
            raise ValueError("Cloud wants `email`, the address of the account that the token belongs to")
        if self.email and not _ADDRESS.fullmatch(self.email):
            raise ValueError("`email` is no e-mail address; a Data Center wants a personal access token, and none")
        return self

    @property
    def is_cloud(self) -> bool:
        """Whether the site is one of Atlassian's Cloud, where an account has an e-mail address and an API token."""
        return bool(self.email)

    @property
    def site(self) -> str:
        """The site's address, without what Confluence stands below on Cloud."""
        return self.url.removesuffix("/wiki") if self.is_cloud else self.url

    @property
    def authorization(self) -> SecretStr:
        """What stands in the header of this name."""
        token = self.token.get_secret_value().strip()
        if not self.is_cloud:
            return SecretStr(f"Bearer {token}")
        return SecretStr(f"Basic {base64.b64encode(f'{self.email}:{token}'.encode()).decode('ascii')}")
