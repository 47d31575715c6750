"""What would look like the frame around what a model is shown is marked off, however much blank stands in it."""

import re
import time

import pytest

from ragcore.research import judging
from ragcore.research.tools import situation


@pytest.mark.parametrize("frame", [judging._FRAME, situation._FRAME], ids=["judging", "situation"])
def test_frames_are_marked_off_and_blanks_cost_no_time(frame: re.Pattern[str]) -> None:
    assert frame.sub("‹", "< / question> </found>< asked <b> a < b") == "‹ / question> ‹/found>‹ asked <b> a < b"
    assert situation._FRAME.sub("‹", "</conversation>") == "‹/conversation>"
    began = time.thread_time()
    frame.sub("‹", "<" + " " * 30_000)
    assert time.thread_time() - began < 0.5
