"""Brings the tables of an older Citebot up to date; imported only when that is due.

One file in versions/ for each change of ragcore/stores/schema.py, in alembic's form.
"""

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from ragcore.errors import StoreError


def upgrade(connection: Connection, found: str | None) -> None:
    """Bring the tables from revision ``found`` (None: no tables) to the newest, in the connection's transaction.

    Raises:
        StoreError: the revision is unknown here, so a newer Citebot wrote it.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    scripts = ScriptDirectory.from_config(config)
    head = scripts.get_current_head()
    if found is not None and not _knows(scripts, found):
        raise StoreError(
            f"the database was written by a newer Citebot (schema {found}, this one knows {head}): "
            "install that version, or restore an older backup"
        )
    steps = EnvironmentContext(config, scripts, fn=lambda current, _: scripts._upgrade_revs("head", current))
    with steps:
        steps.configure(connection=connection)
        steps.run_migrations()


def _knows(scripts: ScriptDirectory, revision: str) -> bool:
    try:
        return scripts.get_revision(revision) is not None
    except CommandError:
        return False
