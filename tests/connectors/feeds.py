"""What the tests of the source type ``feed`` use: feeds in each form, and a connector to a local site."""

import json
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from connectors.base import Origin
from connectors.feed import FeedConnector, FeedOptions

ATOM = "http://www.w3.org/2005/Atom"
TIME = "2026-03-10T10:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Item:
    guid: str
    text: str
    title: str = ""
    link: str = ""
    updated: str = TIME


def options(site, *paths, **changes):
    defaults = {
        "urls": tuple(map(site.url, paths or ("/feed.xml",))),
        "networks": ("127.0.0.0/8",),
        "requests_per_second": 1_000,
    }
    return FeedOptions.model_validate(defaults | changes)


def feed(site, *paths, **changes):
    return FeedConnector(Origin(source="s", folder=Path("/")), options(site, *paths, **changes))


def rss(items, following=""):
    further = f'<atom:link rel="next" href={quoteattr(following)} xmlns:atom="{ATOM}"/>' if following else ""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>News</title><link>https://news.example/</link>{further}
{"".join(map(_rss_item, items))}</channel></rss>"""


def _rss_item(item):
    link = f"<link>{escape(item.link)}</link>" if item.link else ""
    return (
        f'<item><guid isPermaLink="false">{escape(item.guid)}</guid><title>{escape(item.title)}</title>{link}'
        f"<pubDate>{format_datetime(datetime.fromisoformat(item.updated))}</pubDate>"
        f"<description>{escape(escape(item.text))}</description></item>\n"
    )


def atom(items, following="", gone=()):
    further = f'<link rel="next" href={quoteattr(following)}/>' if following else ""
    deleted = "".join(f"<at:deleted-entry ref={quoteattr(guid)} when={quoteattr(TIME)}/>" for guid in gone)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="{ATOM}" xmlns:at="http://purl.org/atompub/tombstones/1.0">
<title>News</title><id>urn:news</id><updated>{TIME}</updated><author><name>Ann</name></author>{further}{deleted}
{"".join(map(_atom_entry, items))}</feed>"""


def _atom_entry(item):
    link = f"<link href={quoteattr(item.link)}/>" if item.link else ""
    return (
        f"<entry><id>{escape(item.guid)}</id><title>{escape(item.title)}</title>{link}"
        f"<updated>{item.updated}</updated><content>{escape(item.text)}</content></entry>\n"
    )


def json_feed(items, following="", **more):
    told = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "News",
        "items": [
            {"id": i.guid, "title": i.title, "url": i.link, "content_text": i.text, "date_modified": i.updated}
            for i in items
        ],
    }
    return json.dumps(told | ({"next_url": following} if following else {}) | more)
