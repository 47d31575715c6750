"""What a reader sees of a message, whatever the platform."""

from dataclasses import dataclass, field


class Invalid(ValueError):
    """A message that the platform would refuse, or show broken."""


@dataclass
class Shown:
    """``plain`` is the text without styles; ``page`` the same with styles, links and code marked for the gallery.

    ``live`` is the text in which the client looks for names, tags and addresses: all but code and links' words, which
    stand as a space. ``links`` are (words, address), ``pings`` whatever would address somebody.
    """

    plain: str = ""
    page: str = ""
    live: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    pings: list[str] = field(default_factory=list)

    def add(self, other: "Shown") -> None:
        self.plain += other.plain
        self.page += other.page
        self.live += other.live
        self.links += other.links
        self.codes += other.codes
        self.pings += other.pings


def words(text: str) -> Shown:
    return Shown(plain=text, page=text, live=text)


def styled(name: str, inside: Shown) -> Shown:
    inside.page = f"‹{name}›{inside.page}‹/{name}›"
    return inside


def link(inside: Shown, url: str) -> Shown:
    return Shown(
        plain=inside.plain,
        page=f"{inside.page}‹→ {url}›",
        live=" ",
        links=[(inside.plain, url)],
        codes=inside.codes,
        pings=inside.pings,
    )


def code(text: str) -> Shown:
    return Shown(plain=text, page=f"‹code›{text}‹/code›", live=" ", codes=[text])


def code_block(text: str, language: str) -> Shown:
    lines = "\n".join(f"    │ {line}" for line in text.split("\n"))
    head = f"    ┌ {language}\n" if language else ""
    return Shown(plain=text, page=head + lines, live=" ", codes=[text])
