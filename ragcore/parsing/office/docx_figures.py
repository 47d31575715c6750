"""Which pictures stand in the paragraphs of a Word document, and which paragraph is the caption of which."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from lxml import etree

from ragcore.parsing.office.figures import Shown, alternative_of, is_ornament, size_of
from ragcore.parsing.office.ooxml import attribute, child, name_of, relation_id


def uses_of(root: etree._Element, targets: Mapping[str, str]) -> Counter[str]:
    """Return in how many places each part is shown as a picture."""
    return Counter(targets.get(_kept(element), "") for element in root.iter() if _kept(element) and _is_shown(element))


def pictures_in(block: etree._Element, targets: Mapping[str, str]) -> list[Shown]:
    """Return the pictures of a paragraph or a table, but not those of the text boxes that are anchored in it."""
    return [
        _shown(element, targets.get(_kept(element), ""))
        for element in block.iter()
        if _kept(element) and _is_shown(element) and _block_of(element, block) is block
    ]


def captioned(
    blocks: Sequence[etree._Element],
    pictures: Mapping[int, Sequence[Shown]],
    is_caption: Callable[[etree._Element], bool],
) -> dict[int, list[Shown]]:
    """Return by the place of a block the pictures that are told with it: by their caption's, else by their own.

    The caption is the paragraph of the picture itself, else the one behind it, else the one before it; pictures that
    stand under each other share one that follows.
    """
    told: dict[int, list[Shown]] = {}
    captions = {at for at, block in enumerate(blocks) if is_caption(block)}
    taken: set[int] = set()
    for at in sorted(pictures):
        following = at + 1
        while following in pictures and following not in captions:
            following += 1
        near = (place for place in (at, following, at - 1) if place in captions)
        place = next((place for place in near if place >= at or place not in taken), at)
        taken.add(place)
        told.setdefault(place, []).extend(pictures[at])
    return told


def _kept(element: etree._Element) -> str:
    """Return the relation of the part that an element shows, "" for any other."""
    name = name_of(element)
    if name == "blip":
        return attribute(element, "embed")
    return relation_id(element) if name == "imagedata" else ""


def _is_shown(element: etree._Element) -> bool:
    """Tell whether it isn't there for older programs alone, nor deleted."""
    return not any(name_of(above) in ("Fallback", "del", "moveFrom") for above in element.iterancestors())


def _block_of(element: etree._Element, block: etree._Element) -> etree._Element | None:
    """Return the paragraph that an element stands in; of a table's element, the table, unless a text box is between."""
    is_table = name_of(block) == "tbl"
    for above in element.iterancestors():
        if above is block:
            return above
        if name_of(above) == "txbxContent" or (name_of(above) == "p" and not is_table):
            return above
    return None


def _shown(element: etree._Element, part: str) -> Shown:
    drawing = next(_above(element, "inline", "anchor"), None)
    if drawing is None:
        shape = next(_above(element, "shape"), None)
        return Shown(part=part, alternative=attribute(shape, "alt").strip() if shape is not None else "")
    described = child(drawing, "docPr")
    width, height = size_of(child(drawing, "extent"))
    return Shown(
        part=part,
        width=width,
        height=height,
        alternative=alternative_of(described),
        is_ornament=is_ornament(described),
    )


def _above(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    return (above for above in element.iterancestors() if name_of(above) in names)
