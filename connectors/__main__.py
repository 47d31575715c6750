"""Write the reference of the source types: ``python -m connectors docs/sources.md``; a test fails when it is stale."""

import sys
from pathlib import Path

from connectors.reference import sources_reference

Path(sys.argv[1]).write_text(sources_reference(), encoding="utf-8")
