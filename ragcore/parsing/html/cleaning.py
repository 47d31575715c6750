"""What of a web page is not its text: scripts, navigation, banners, hidden decoration."""

import re

from lxml import etree
from lxml.html import HtmlElement

_DROPPED_TAGS = (
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "map",
    "button", "select", "input", "textarea", "dialog", "nav", "head", "datalist",
)  # fmt: skip
_DROPPED_ROLES = frozenset(("navigation", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar", "banner"))
_BANNER = re.compile(r"cookie|consent|gdpr|onetrust|cookiebot|newsletter-popup|modal-backdrop", re.IGNORECASE)
_CHROME = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|menubar|breadcrumbs?|sidebar|sidenav|pagination|pager|footer|skip-?link|"
    r"skip-?nav|skip-?to-?content|share|sharing|social|toc|table-of-contents|related-posts|prev-next)(?:$|[\s_-])",
    re.IGNORECASE,
)
_HEADING_LINK = re.compile(r"^[\s#¶§🔗\u200b\ufeff]*$")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_KEPT_TAGS = frozenset(("html", "body", "main", "article"))
_BLOCKS = ".//p|.//li|.//h1|.//h2|.//h3|.//h4|.//table|.//pre"
_BANNER_CHARACTERS = 3_000
_MAIN_CHARACTERS = 200
_MOSTLY_LINKS = 0.5


def clean(root: HtmlElement) -> HtmlElement:
    """Take out of the tree what is not the page's text, and return the element that holds the text.

    A part goes only when its tag or role says so, or when its class does and most of its text are links: content in an
    oddly named box stays. The tree is changed in place; what goes stays behind as an empty element.
    """
    etree.strip_elements(root, etree.Comment, etree.ProcessingInstruction, etree.Entity, with_tail=False)
    for element in list(root.iter()):
        if element is not root and _is_noise(element):
            element.clear(keep_tail=True)
    return _main(root)


def _is_noise(element: HtmlElement) -> bool:
    tag, role = element.tag, element.get("role", "")
    if tag in _DROPPED_TAGS or tag == "ix:header":
        return True
    if tag in _KEPT_TAGS:
        return False
    return (
        role in _DROPPED_ROLES
        or (role == "contentinfo" and not _inside_article(element))
        or _is_hidden(element, role)
        or (tag == "a" and _is_heading_link(element))
        or _is_chrome(element)
    )


def _is_hidden(element: HtmlElement, role: str) -> bool:
    """Tell what is never shown from what a click unfolds (tabs, collapsed answers), which is content."""
    if element.get("hidden", "until-found") != "until-found" and role != "tabpanel":
        return True
    return element.get("aria-hidden") == "true" and not element.xpath(_BLOCKS)


def _is_heading_link(element: HtmlElement) -> bool:
    """Tell the ``¶`` beside a heading from a link; an anchor with an id of its own is kept for its id."""
    parent = element.getparent()
    in_heading = parent is not None and parent.tag in _HEADINGS
    return in_heading and element.get("href", "").startswith("#") and bool(_HEADING_LINK.match(text_of(element)))


def _is_chrome(element: HtmlElement) -> bool:
    if element.tag in ("header", "footer", "aside"):
        if element.tag == "footer" and not _inside_article(element):
            return True
        return not element.xpath(".//h1") and link_share(element) > _MOSTLY_LINKS
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if names == " ":
        return False
    if _BANNER.search(names) and len(text_of(element)) < _BANNER_CHARACTERS and not element.xpath(".//h1|.//article"):
        return element.tag in ("div", "section", "aside", "form", "p", "footer")
    return bool(_CHROME.search(names)) and link_share(element) > _MOSTLY_LINKS


def _inside_article(element: HtmlElement) -> bool:
    return any(ancestor.tag in ("article", "main", "blockquote") for ancestor in element.iterancestors())


def text_of(element: HtmlElement) -> str:
    """Return all text of an element."""
    return "".join(element.itertext())


def link_share(element: HtmlElement) -> float:
    """Return the share of the element's characters that stand inside links, 0..1; 1 for an element without text."""
    total = len("".join(text_of(element).split()))
    linked = sum(len("".join(text_of(link).split())) for link in element.iter("a") if link.get("href"))
    return linked / total if total else 1.0


def _main(root: HtmlElement) -> HtmlElement:
    """Return ``<main>`` when the rest of the page is shorter than it, or little more than links."""
    mains = root.xpath(".//main|.//*[@role='main']")
    if not mains:
        return root
    main = max(mains, key=lambda element: len(text_of(element)))
    inside, everything = len(text_of(main).split()), len(text_of(root).split())
    rest_links = sum(len(text_of(link).split()) for link in root.iter("a") if link.get("href"))
    rest_links -= sum(len(text_of(link).split()) for link in main.iter("a") if link.get("href"))
    rest = everything - inside
    if len(text_of(main)) >= _MAIN_CHARACTERS and (rest < inside or rest_links > rest * 0.3):
        return main
    return root
