"""The settings of the source type ``sql``."""

from typing import Literal

from pydantic import Field, SecretStr, field_validator
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from connectors.base import Options, TimeZoneName
from connectors.rows import BaseUrl
from connectors.sql.query import Query


class SqlOptions(Options):
    """The rows of a query, each a document, from any database that SQLAlchemy reads.

    The columns `id` and `text` are needed; `title`, `url`, `author`, `updated_at` and `readers` are taken where the
    query gives them, in upper or lower case, and any other column is kept as metadata. An id is unique, and not NULL; a
    row whose text is NULL or whose id comes twice with different content is named, and the others are taken. `readers`
    is a list of who may read the row (an array, JSON, or separated by commas), as in the settings, a bare e-mail
    address also; NULL or empty means nobody but the operator.

    ```toml
    [[sources]]
    name = "tickets"
    type = "sql"
    url = "postgresql://reader@db.example.org/helpdesk"
    password = "${HELPDESK_PASSWORD}"
    query = '''
    SELECT id, subject AS title, body AS text, updated_at, 'https://help.example.org/t/' || id AS url
    FROM tickets WHERE updated_at >= :since
    '''
    ```

    Without `:since` each run reads the whole query, and takes the rows that have changed. With `:since` in it a run
    reads what the query gives from that time on, which is ten minutes before the newest `updated_at` that it has seen,
    and besides the ids of all rows, to tell what is gone; the first run, and one with `--full`, begin in the year 1800.
    So a row whose `updated_at` is NULL needs `coalesce`, and the query's other conditions and tables count as they are:
    when a row changes without its `updated_at`, leave `:since` out. In SQLite `:since` is text such as
    `2026-11-22 19:30:00`; seconds since 1970 are compared, and given, as `datetime(updated_at, 'unixepoch')`. Times
    without a zone are of `timezone`.

    The query runs in a read-only transaction (PostgreSQL, SQLite, MySQL, Oracle), which is over before the rows are
    indexed; nothing is ever committed. Give it a user that may only read these tables:
    `CREATE ROLE reader LOGIN PASSWORD '...'; GRANT SELECT ON tickets TO reader;` in PostgreSQL. There `?ssl=require`
    behind the URL asks for TLS, and `?ssl=verify-full` also checks the server's certificate by the file that the
    environment names as `PGSSLROOTCERT`. The query must be one that can stand in parentheses; `:since` is its only
    parameter.

    SQLite needs no driver, PostgreSQL `pip install 'citebot[postgres]'`, any other database its driver for SQLAlchemy,
    named in the URL (`mysql+pymysql://`). PostgreSQL and SQLite are tested; the others were not tried.
    """

    url: SecretStr = Field(
        description="SQLAlchemy's address of the database: `postgresql://user@host/name`, `sqlite:///file.db`"
    )
    password: SecretStr | None = Field(default=None, description="the password, where it doesn't stand in the URL")
    query: str = Field(min_length=1, description="one SELECT, with `id` and `text` among its columns")
    text_format: Literal["auto", "text", "markdown", "html"] = Field(
        default="auto", description="what `text` is written in; `auto`: what it looks like"
    )
    base_url: BaseUrl = Field(
        default="", description="where a reader finds a row that has no `url`: `{id}` stands for its id"
    )
    timezone: TimeZoneName = Field(
        default="UTC", description="the zone of times that tell none, such as `Europe/Berlin`"
    )
    timeout: float = Field(
        default=300, gt=0, le=590, description="seconds that the database may take for its first rows, or for the next"
    )
    max_megabytes: float = Field(default=20, gt=0, description="larger texts are reported instead of taken")

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: SecretStr) -> SecretStr:
        try:
            make_url(url.get_secret_value())
        except (ArgumentError, ValueError):
            # The error would hold what was written, and so the password.
            raise ValueError('must be an address such as "postgresql://user@host/name"') from None
        return url

    @field_validator("query")
    @classmethod
    def _is_query(cls, query: str) -> str:
        if not Query(query).sql:
            raise ValueError("must be a SELECT")
        return query
