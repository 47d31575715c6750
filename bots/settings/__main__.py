"""Write the settings' reference: ``python -m bots.settings docs/settings.md``."""

import sys
from pathlib import Path

from bots.settings.reference import settings_reference

Path(sys.argv[1]).write_text(settings_reference(), encoding="utf-8")
