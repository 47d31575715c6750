import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from ragcore.errors import NoSuchPage, ParseError
from ragcore.parsing import ParseOptions, parse
from ragcore.parsing.pdf.cutout import MOST_PAGES, cut_out
from ragcore.parsing.pdf.drawing import MARGIN, MOST_SIDE
from ragcore.parsing.worker import ParseWorker, Part
from ragcore.types import Box
from tests.ragcore.parsing.makers import Words, lines, pdf
from tests.soak import scaled

BODY = [
    "Every employee is entitled to twenty-five days of paid leave",
    "in each calendar year, and to carry over five.",
]
TWO = pdf([lines(BODY), [*lines(["Above stands another thing."], top=740), *lines(BODY, top=500)]])
PASSAGE = Box(page=2, left=70, top=280, right=400, bottom=310)


def pixels(png: bytes) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(png)) as picture:
        assert picture.format == "PNG"
        return np.asarray(picture.convert("RGB"))


def is_marked(place: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.asarray((place[..., 2] < 0.7 * place[..., 0]) & (place[..., 0] > 100))


def test_the_passage_is_marked_and_what_is_around_it_is_as_printed() -> None:
    made = cut_out(TWO, [PASSAGE])
    picture = pixels(made.png)
    assert made.pages == (2,)
    edge = int(2 * MARGIN)
    assert picture.shape[:2] == (2 * 30 + 2 * edge, 2 * 330 + 2 * edge)
    inside, around = picture[edge + 2 : -edge - 2, edge + 2 : -edge - 2], picture[: edge - 2]
    assert is_marked(inside).mean() > 0.7
    assert not is_marked(around).any()
    assert (inside.max(axis=2) < 60).any(), "the letters stay black"


@settings(max_examples=scaled(6), deadline=None)
@given(
    st.sampled_from([0, 90, 180, 270]),
    st.lists(st.tuples(st.integers(60, 500), st.integers(80, 700)), min_size=1, max_size=3, unique=True),
    st.integers(2_000, 100_000),
)
def test_every_word_of_a_passage_is_in_its_picture_however_the_page_is_turned(
    rotation: int, places: list[tuple[int, int]], most: int
) -> None:
    content = pdf([[Words(text="mmmm", x=x, y=y, size=9) for x, y in places]], entries=f"/Rotate {rotation}")
    (section,) = parse(content, name="x.pdf").sections
    for line in section.lines:
        picture = pixels(cut_out(content, [line.box], most_pixels=most).png)
        assert picture.shape[0] * picture.shape[1] <= most * 1.1
        marked = is_marked(picture)
        rows, columns = np.nonzero(marked)
        place = picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert (place.max(axis=2) < 200).any()


def test_several_pages_stand_under_each_other_up_to_a_limit() -> None:
    content = pdf([lines(BODY) for _ in range(MOST_PAGES + 2)])
    boxes = [Box(page=page, left=70, top=80, right=300, bottom=110) for page in range(1, MOST_PAGES + 3)]
    one, two, many = (cut_out(content, boxes[:count]) for count in (1, 2, len(boxes)))
    assert (one.pages, two.pages, many.pages) == ((1,), (1, 2), tuple(range(1, MOST_PAGES + 1)))
    heights = [pixels(made.png).shape[0] for made in (one, two)]
    assert heights[1] > 2 * heights[0]


def test_a_huge_page_makes_no_huge_picture() -> None:
    content = pdf([lines(BODY)], entries="/CropBox [0 0 14000 14000] /MediaBox [0 0 14000 14000]")
    picture = pixels(cut_out(content, [Box(page=1, left=0, top=0, right=14000, bottom=14000)]).png)
    assert max(picture.shape) <= MOST_SIDE + 1
    assert picture.shape[0] * picture.shape[1] <= 4_100_000


@pytest.mark.parametrize(
    "box",
    [Box(page=3, left=1, top=1, right=9, bottom=9), Box(page=1, left=700, top=1, right=900, bottom=9),
     Box(page=1, left=1, top=900, right=9, bottom=990), Box(page=0, left=1, top=1, right=9, bottom=9)],
    ids=["page", "right", "below", "nowhere"],
)  # fmt: skip
def test_a_place_that_is_not_there_is_told(box: Box) -> None:
    with pytest.raises(NoSuchPage, match=r"it has no page|ends before the passage"):
        cut_out(TWO, [box])


async def test_the_worker_draws_and_goes_on_to_parse() -> None:
    worker = ParseWorker()
    try:
        made = await worker.cut_out(TWO, [PASSAGE], seconds=30)
        assert made == cut_out(TWO, [PASSAGE])
        with pytest.raises(NoSuchPage):
            await worker.cut_out(TWO, [Box(page=9, left=1, top=1, right=9, bottom=9)], seconds=30)
        with pytest.raises(ParseError, match="damaged or cut off"):
            await worker.cut_out(b"%PDF-1.4 nothing", [PASSAGE], seconds=30)
        told = [
            reply
            async for reply in worker.parse(TWO, name="x.pdf", media_type="", options=ParseOptions(), seconds=30)
            if isinstance(reply, Part)
        ]
        assert [section.location.page for part in told for section in part.sections] == [1, 2]
    finally:
        await worker.close()
