"""``python -m bots`` is the command ``citebot``."""

from bots.cli import main

main()
