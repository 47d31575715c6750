"""The settings of the source type ``notion``."""

from pydantic import Field, SecretStr, field_validator

from connectors.base import Options
from connectors.cursors import basis_of
from connectors.http.urls import server_parts
from connectors.notion.ids import id_in
from connectors.readers import Readers

NOTION_COM = "https://api.notion.com"


class NotionOptions(Options):
    """What an integration of Notion may see: pages, databases, and the rows of databases.

    A page is a document with all its blocks, also those inside toggles, columns, callouts and synced blocks; each
    passage is linked by the block that it stands in. A row of a database is a document with its properties and what is
    written on its page. A database is a short document of its own: its description, and the properties that it has.
    Files and pictures are named, with their captions, and not read. What is in the trash or archived is deleted.

    Taken is what the integration is shared with, or only `pages` and what is below them. Notion tells who may read a
    page to nobody but itself. So each document is readable for whoever the knowledge base's `readers` name, all of
    them: share the integration with what all of these may read, give each circle a knowledge base of its own, or name
    `readers` here.

    A run asks for the list of all, a hundred entries a request, and reads what was edited since. A page takes a request
    for each hundred blocks, and one for each block that others stand in. What Notion's list leaves out (it doesn't
    promise to be complete) is asked for one by one, and rows in their databases, so that nothing is deleted for that
    reason. A value that Notion works out, by a formula or a rollup, is as it was when its row was last edited.
    """

    token: SecretStr = Field(description="the integration's secret: `${NOTION_TOKEN}`")
    pages: tuple[str, ...] = Field(
        default=(),
        description="addresses or ids of pages and databases: these alone are taken, with all that is below them; "
        "default: all that the integration is shared with",
    )
    comments: bool = Field(
        default=False,
        description="whether the open comments on a page are read with it, for a request more a page; wants the "
        "integration's right to read comments. A new comment alone is no edit: it is seen when the page is read next",
    )
    readers: Readers = Field(
        default=None,
        description="who may read these documents, as in a knowledge base; default: whoever reads the knowledge base",
    )
    requests_per_second: float = Field(
        default=3, gt=0, le=100, description="how fast Notion is asked: it takes 3 a second, of some plans more"
    )
    url: str = Field(default=NOTION_COM, description="the address of the API; for a proxy")

    @field_validator("token")
    @classmethod
    def _is_token(cls, token: SecretStr) -> SecretStr:
        value = token.get_secret_value().strip()
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError("must be the secret alone, as Notion shows it for the integration: `ntn_...`")
        return SecretStr(value)

    @field_validator("pages")
    @classmethod
    def _are_pages(cls, pages: tuple[str, ...]) -> tuple[str, ...]:
        found = []
        for page in pages:
            if not id_in(page):
                raise ValueError(f'"{page}" leads to no page; copy the address of the page (Share, Copy link)')
            found.append(id_in(page))
        return tuple(dict.fromkeys(found))

    @field_validator("url")
    @classmethod
    def _is_api(cls, url: str) -> str:
        parts = server_parts(url, example=NOTION_COM)
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"

    def basis(self) -> str:
        """Return what changes when other documents would come of the same workspace."""
        return basis_of(self.token.get_secret_value(), self.pages, self.url)
