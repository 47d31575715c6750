"""What the tests of the source type ``web`` use: a connector to a local site, and one run of it."""

from connectors.base import Checkpoint, Origin, SourceDocument
from connectors.web import WebConnector, WebOptions
from tests.connectors.helpers import collect, known_of, listed
from tests.fakes.website import Website


def linked(*paths, title="", text="", head=""):
    """Return a page that links to these."""
    links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths)
    return f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p>{links}</body></html>"


def options(site, **changes):
    defaults = {"networks": ("127.0.0.0/8",), "requests_per_second": 1_000}
    if not {"start_urls", "sitemaps"} & changes.keys():
        defaults["start_urls"] = (site.url("/"),)
    return WebOptions(**(defaults | changes))


def web(site, tmp_path="/", **changes):
    return WebConnector(Origin(source="s", folder=tmp_path), options(site, **changes))


class Run:
    """One run after another of a source, as a sync does them: what each yielded, and what is indexed."""

    def __init__(self, site: Website, **changes):
        self.site, self.changes = site, changes
        self.known, self.cursor = {}, None

    async def __call__(self, connector=None):
        """Do a run; return the paths of what was yielded."""
        self.site.requests.clear()
        connector = connector or web(self.site, **self.changes)
        self.documents, self.failures, self.gone, self.cursor = await collect(
            self._kept(connector.changes(self.cursor, self.known))
        )
        ids, self.listing_failures = await listed(connector)
        self.known |= known_of(self.documents)
        self.known = {i: v for i, v in self.known.items() if i in ids or i in self.failures}
        return self.paths(self.documents)

    async def _kept(self, changes):
        """Keep at each checkpoint what came before it: that is what stays when a run ends in an error."""
        pending, self.told = {}, {}
        async for change in changes:
            if isinstance(change, SourceDocument):
                pending[change.id] = self.told[change.id] = change.version
            elif isinstance(change, Checkpoint):
                self.known, self.cursor = self.known | pending, change.cursor
            yield change

    def paths(self, ids):
        return sorted(identity.removeprefix(f"s:{self.site.origin}") for identity in ids)

    @property
    def held(self):
        return self.paths(self.known)

    @property
    def failed(self):
        return self.paths(self.failures)
