"""What stands beside pictures of passages, whatever documents are called."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bots.pictures import Picture
from bots.rendering.discord import render_discord
from bots.rendering.measure import units
from bots.rendering.picture_captions import captions
from bots.rendering.slack import SlackModal, with_pictures
from bots.rendering.sources import shortened
from bots.rendering.telegram import render_telegram
from bots.turn.pictures import LONGEST_LABEL, PictureLimits
from tests.bots.rendering.documents import HOSTILE
from tests.bots.rendering.readers import discord, slack_blocks, telegram
from tests.soak import scaled

MOST = PictureLimits().count
labels = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=40).map(
    lambda atoms: shortened(" ".join(atoms), LONGEST_LABEL)
)
pictures = st.lists(labels, min_size=1, max_size=MOST).map(
    lambda given: tuple(Picture(number=number, label=label, png=b"") for number, label in enumerate(given, 1))
)


@settings(max_examples=scaled(40))
@given(pictures=pictures)
def test_captions_fit_each_platform_and_call_nobody(pictures: tuple[Picture, ...]) -> None:
    (message,) = render_discord(captions(pictures))
    assert units(message.content) <= 2_000
    assert not discord.read(message.content).pings
    for picture in pictures:
        assert units(picture.caption) <= 1_000, "Slack's alternative text, Discord's description"
        (message,) = render_telegram(captions((picture,)))
        shown = telegram.read(message.html)
        assert units(shown.plain) <= 1_024
        assert not shown.pings


@settings(max_examples=scaled(20))
@given(pictures=pictures, sections=st.integers(1, 100))
def test_a_modal_takes_them_below_as_many_sections_as_there_is_room_for(
    pictures: tuple[Picture, ...], sections: int
) -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "words"}}
    files = {f"F{picture.number}": picture for picture in pictures}
    modal = with_pictures(SlackModal(title="Sources", blocks=(block,) * sections), files)
    slack_blocks.check_modal(modal.title, modal.blocks)
    shown = [one["slack_file"]["id"] for one in modal.blocks[-len(files) :]]
    assert shown == list(files)
    assert len(modal.blocks) == min(100, sections + len(files))
    kept = sum(one == block for one in modal.blocks)
    assert kept == (sections if sections + len(files) <= 100 else 99 - len(files)), "a cut is told by a line of its own"
