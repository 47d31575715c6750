"""Text within a paragraph of Confluence's storage format, as Markdown. Pure.

https://confluence.atlassian.com/doc/confluence-storage-format-790796544.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

from lxml import etree

from connectors.atlassian.markup import DEEPEST, address, bracketed, code_span, link, marked, one_line, plain

AC, RI = "{ac}", "{ri}"
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_APART = frozenset({"p", "div", "li", "td", "th", "tr", "ul", "ol", "table"})
_SILENT = frozenset(
    f"{AC}{name}" for name in ("parameter", "placeholder", "task-id", "task-uuid", "task-status", "adf-attribute")
)

Element = etree._Element  # what lxml calls it


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a text stands: ``base`` is what the site's pages begin with, ``names`` those of mentioned accounts."""

    base: str
    space: str
    page: str
    is_cloud: bool = True
    title: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    def page_url(self, title: str, space: str = "") -> str:
        """Return the address of a page by its title."""
        return f"{self.base}/display/{quote(space or self.space, safe='~')}/{quote_plus(title)}"

    def file_url(self, name: str) -> str:
        """Return the address of a file on this page."""
        return f"{self.base}/download/attachments/{self.page}/{quote(name, safe='')}"

    def anchor(self, name: str) -> str:
        """Return the fragment by which a heading or an anchor of this page is found."""
        plain = one_line(name)
        if self.is_cloud:
            return quote(plain.replace(" ", "-"), safe="-._~!$&'()*+,;=:@/?")
        return quote(f"{self.title}-{plain}".replace(" ", ""), safe="-._~!$&'()*+,;=:@/?")


def tag_of(element: Element) -> str:
    """Return an element's name; "" for comments and the like."""
    return element.tag if isinstance(element.tag, str) else ""


def parameter(macro: Element, name: str) -> str:
    """Return a parameter of a macro, "" when it has none of this name."""
    for one in macro.iterchildren(f"{AC}parameter"):
        if (one.get(f"{AC}name") or "") == name:
            return "".join(map(str, one.itertext())).strip()
    return ""


def inline(element: Element, place: Place, depth: int = 0) -> str:
    """Return what stands in an element, as Markdown on lines that only ``<br/>`` parts."""
    if depth > DEEPEST:
        return plain(" ".join(map(str, element.itertext())))
    parts = [plain(element.text or "")]
    for child in element:
        parts += [_shown(child, place, depth + 1), plain(child.tail or "")]
    return "".join(parts)


def _shown(element: Element, place: Place, depth: int) -> str:
    tag = tag_of(element)
    if not tag or tag in _SILENT:
        return ""
    if tag.startswith((AC, RI)):
        return _own(element, tag, place, depth)
    inner, shown = inline(element, place, depth), ""
    if tag in _MARKS:
        shown = marked(inner, _MARKS[tag])
    elif tag == "code":
        shown = inner if len(element) else code_span(element.text or "")
    elif tag == "br":
        shown = "\n"
    elif tag == "a":
        shown = link(inner.strip(), element.get("href") or "")
    elif tag == "img":
        shown = _picture(element)
    elif tag == "time":
        shown = element.get("datetime") or inner
    else:  # blocks within what should hold none are set apart
        shown = f" {inner} " if tag in _APART else inner
    return shown


def _picture(element: Element) -> str:
    url = element.get("src") or ""
    return f"![{bracketed(element.get('alt') or '')}]{address(url)}" if url else ""


def _own(element: Element, tag: str, place: Place, depth: int) -> str:
    """Return what one of Confluence's own elements says within a line."""
    if tag == f"{AC}link":
        return _link(element, place, depth)
    if tag == f"{AC}image":
        return _image(element, place)
    if tag == f"{AC}emoticon":
        return element.get(f"{AC}emoji-fallback") or f":{element.get(f'{AC}name') or 'smile'}:"
    if tag in {f"{AC}structured-macro", f"{AC}macro"}:
        return inline_macro(element, place, depth)
    if tag == f"{RI}user":
        return _person(element, place)
    return inline(element, place, depth)


def inline_macro(macro: Element, place: Place, depth: int) -> str:
    """Return what a macro shows within a line: a status, an issue, a link, else its body."""
    name = macro.get(f"{AC}name") or ""
    if name == "status":
        return plain(parameter(macro, "title") or parameter(macro, "colour"))
    if name == "jira":
        return plain(parameter(macro, "key") or parameter(macro, "jqlQuery"))
    if name in {"include", "excerpt-include", "excerpt-include-macro"}:
        # What stands there belongs to that page, and may not be for everybody who reads this one.
        links = [_target(one, place) for one in macro.iter(f"{RI}page", f"{RI}blog-post")]
        return " ".join(link(text, url) for text, url in links)
    files = [_target(one, place) for one in macro.iter(f"{RI}attachment")]
    if files and name.startswith("view"):
        return " ".join(link(text, url) for text, url in files)
    bodies = [child for child in macro if tag_of(child) in {f"{AC}rich-text-body", f"{AC}plain-text-body"}]
    return " ".join(inline(body, place, depth + 1) for body in bodies)


def _link(element: Element, place: Place, depth: int) -> str:
    bodies = [one for one in element if tag_of(one) in {f"{AC}link-body", f"{AC}plain-text-link-body"}]
    text = one_line(" ".join(inline(body, place, depth + 1) for body in bodies))
    anchor = element.get(f"{AC}anchor") or ""
    for resource in element:
        if tag_of(resource) == f"{RI}user":
            return text or _person(resource, place)
        if tag_of(resource).startswith(RI):
            told, url = _target(resource, place)
            return link(text or told, f"{url}#{place.anchor(anchor)}" if url and anchor else url)
    return text or plain(anchor)


def _target(resource: Element, place: Place) -> tuple[str, str]:
    """Return how a resource is called, and its address, "" where that isn't told."""
    kind = tag_of(resource).removeprefix(RI)
    title, space = resource.get(f"{RI}content-title") or "", resource.get(f"{RI}space-key") or ""
    if kind in {"page", "blog-post"}:
        return plain(title), place.page_url(title, space) if kind == "page" and title else ""
    if kind == "attachment":
        name = resource.get(f"{RI}filename") or ""
        return plain(name), place.file_url(name) if name and not len(resource) else ""
    if kind == "space":
        return plain(space), f"{place.base}/display/{quote(space, safe='~')}" if space else ""
    url = resource.get(f"{RI}value") or ""
    return plain(url), url


def _image(element: Element, place: Place) -> str:
    alt = element.get(f"{AC}alt") or element.get(f"{AC}title") or ""
    for resource in element:
        if tag_of(resource).startswith(RI):
            told, url = _target(resource, place)
            text = bracketed(alt or told)
            return f"![{text}]{address(url)}" if url else text
    return plain(alt)


def _person(element: Element, place: Place) -> str:
    for key in ("account-id", "userkey", "username"):
        native = element.get(f"{RI}{key}")
        if native:
            return f"@{plain(place.names.get(native, 'somebody'))}"
    return ""
