"""JSON in what a model writes: found, mended, and not at any price."""

import time

import pytest

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import MOST_MENDED, MOST_OPENED, list_of, value_of

WHOLE = '{"a": [1, 2]}'
LONG = '{"a": "' + "b " * MOST_MENDED + '"}'


@pytest.mark.parametrize("waited_for", [False, True])
@pytest.mark.parametrize(
    "reply", [WHOLE, f"```json\n{WHOLE}\n```", f"Here: {WHOLE}", f"{WHOLE} That is all.", '{"a": [1, 2']
)
def test_json_is_found_and_mended(reply: str, *, waited_for: bool) -> None:
    assert value_of(reply, waited_for=waited_for) == {"a": [1, 2]}


def test_what_somebody_waits_for_is_mended_only_where_that_is_quick() -> None:
    assert value_of(LONG, waited_for=True) == value_of(LONG)
    assert value_of(f"{LONG} That is all.", waited_for=True) == value_of(LONG)
    assert value_of(LONG[:-2]) == {"a": ("b " * MOST_MENDED).strip()}
    with pytest.raises(ModelBadOutput):
        value_of(LONG[:-2], waited_for=True)
    many = "[" + "[1]," * MOST_OPENED
    assert list_of(many, "numbers") == [[1]] * MOST_OPENED
    with pytest.raises(ModelBadOutput):
        list_of(many, "numbers", waited_for=True)


@pytest.mark.parametrize("motif", ["{1}", "{", "[", "{'", '{"a"', "[{\u201d][", '["a" '])
def test_a_model_that_lost_its_way_is_not_waited_for(motif: str) -> None:
    began = time.thread_time()
    with pytest.raises(ModelBadOutput):
        value_of("[" + motif * 9_000, waited_for=True)
    assert time.thread_time() - began < 1.0
