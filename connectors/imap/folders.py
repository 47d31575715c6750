"""Which folders of a mailbox are read. Pure."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

from connectors.imap.link import Place
from connectors.imap.options import ImapOptions
from connectors.patterns import compiled
from ragcore.errors import SourceGone

_SPECIAL = frozenset(("\\trash", "\\junk", "\\drafts", "\\flagged", "\\important"))
"""Attributes (RFC 6154, RFC 8457) of folders that hold no documents, or show other folders' mails again."""
_NAMES = """
trash|deleted items|deleted messages|deleted|bin|junk|spam|junk e-mail|junk email|bulk mail|bulk|drafts|draft|outbox
papierkorb|gelöschte elemente|gelöscht|spamverdacht|entwürfe|postausgang
corbeille|éléments supprimés|courrier indésirable|brouillons
papelera|elementos eliminados|correo no deseado|borradores|lixeira|itens excluídos|lixo eletrônico|rascunhos
cestino|posta eliminata|posta indesiderata|bozze|prullenbak|verwijderde items|ongewenste e-mail|concepten
корзина|удаленные|спам|черновики|已删除邮件|垃圾邮件|草稿箱|ゴミ箱|迷惑メール|下書き
"""
_USUAL = frozenset(name for line in _NAMES.strip().split("\n") for name in line.split("|"))
"""What such folders are called where the server doesn't tell their use."""
_WILDCARD = re.compile(r"[*?\[]")


def chosen(options: ImapOptions, places: Sequence[Place]) -> list[Place]:
    """Return the folders to read, the inbox first.

    Raises:
        SourceGone: one that the settings name isn't there.
    """
    named = [pattern for pattern in options.folders if not _WILDCARD.search(pattern)]
    for name in named:
        if not any(compiled(name).fullmatch(place.path) for place in places):
            near = get_close_matches(name, [place.path for place in places], n=3, cutoff=0)
            raise SourceGone(f'there is no folder "{name}"', mend=f"there are {', '.join(near) or 'none'}")
    wanted = compiled(*options.folders) if options.folders else None
    exactly = compiled(*named) if named else None
    left_out = compiled(*options.exclude) if options.exclude else None
    knows_use = any(place.flags & _SPECIAL for place in places)
    found = []
    for place in places:
        if left_out is not None and left_out.fullmatch(place.path):
            continue
        if wanted is not None and not wanted.fullmatch(place.path):
            continue
        if is_special(place, knows_use=knows_use) and not (exactly is not None and exactly.fullmatch(place.path)):
            continue
        found.append(place)
    return sorted(found, key=lambda place: (place.path.upper() != "INBOX", place.path))


def is_special(place: Place, *, knows_use: bool) -> bool:
    """Tell whether a folder is left out unless it is named; ``knows_use``: the server tells of other folders' use."""
    if place.flags & _SPECIAL:
        return True
    parts = [part.lower() for part in place.path.split("/")]
    # Where uses are told, a folder of such a name is somebody's own, but what stands below the trash is trash.
    return not knows_use and any(part in _USUAL for part in parts)
