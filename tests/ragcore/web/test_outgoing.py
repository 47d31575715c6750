"""What a search engine is sent: what its asker typed, now or before; never a word of anybody or anything else."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.types import Message, Question
from ragcore.web.outgoing import outgoing
from ragcore.web.pages import LONGEST_QUERY, searchable
from tests.soak import scaled

ADA, BOB = "slack:T1/@ADA", "slack:T1/@BOB"
LEAVE = "How long is parental leave in Bavaria?"


def question(text: str, *history: Message, typed_by: str = ADA, beside: str = "") -> Question:
    return Question(text=text, knowledge_bases=("kb",), history=history, typed_by=typed_by, beside=beside)


def typed(text: str, by: str = ADA) -> Message:
    return Message(role="user", text=text, typed_by=by)


def told(text: str) -> Message:
    return Message(role="assistant", text=text)


def test_a_follow_up_takes_along_what_the_same_person_asked() -> None:
    said = (typed(LEAVE), told("Fourteen months, says the Zugspitze handbook."))
    assert outgoing(question("And in Hamburg?", *said)) == f"And in Hamburg? {LEAVE}"
    further = (*said, typed("And in Hamburg?"), told("As long."))
    assert outgoing(question("And in Hamburg?", *further)) == f"And in Hamburg? {LEAVE}", "asked once more"
    assert outgoing(question("And there?", *further)) == f"And there? {LEAVE} And in Hamburg?"


def test_a_question_that_stands_alone_goes_alone() -> None:
    asked = "How many public holidays are there in Lower Saxony?"
    assert outgoing(question(asked, typed(LEAVE), told("Fourteen months."))) == asked


def test_of_a_question_too_long_for_an_engine_only_names_go_along() -> None:
    long = f"{' '.join(['We wondered about it for a while.'] * 40)} How long is parental leave at Siemens Mobility?"
    sent = outgoing(question("And in Hamburg?", typed(long)))
    assert sent.startswith("And in Hamburg?")
    assert "Siemens Mobility" in sent
    assert "wondered" not in sent


_WORDS = st.lists(st.sampled_from(["leave", "Bavaria", "it", "Siemens", "and", "other", "she", "4,711"]), max_size=8)
_FREE = st.builds(" ".join, _WORDS)


@settings(max_examples=scaled(100), deadline=None)
@given(
    asked=st.one_of(st.sampled_from(["And in Hamburg?", "Why?", "Is it theirs?", "Who else?"]), _FREE),
    said=st.lists(st.tuples(st.sampled_from([ADA, BOB, "", "answer"]), _FREE), max_size=9),
    asker=st.sampled_from([ADA, ""]),
    beside=st.booleans(),
)
def test_no_word_of_others_of_answers_or_of_files_goes_out(
    asked: str, said: list[tuple[str, str]], asker: str, beside: bool
) -> None:
    """Whatever was said by whom: each foreign message has words of its own, and none of them is sent."""
    history = tuple(
        typed(f"{text} Mine{at} mine{at}?", by)
        if by == ADA
        else Message(
            role="assistant" if by == "answer" else "user",
            text=f"{text} Secret{at} secret{at}x?",
            typed_by="" if by == "answer" else by,
        )
        for at, (by, text) in enumerate(said)
    )
    file = Message(role="user", text="shot.png:\n\nSecretfile Zugspitze")
    whole = question(asked, *history, *([file] if beside else []), typed_by=asker)
    if beside:
        whole = question(f"{asked}\n{file.text}", *whole.history, typed_by=asker, beside=file.text)
    sent = outgoing(whole)
    assert "secret" not in sent.lower()
    assert sent.startswith(asked.strip())
    if not asker:
        assert sent == asked.strip()
    mine = " ".join([asked, *(message.text for message in history if message.typed_by == ADA)])
    assert set(re.findall(r"\w+", sent)) <= set(re.findall(r"\w+", mine))
    assert len(searchable(sent)) <= LONGEST_QUERY
    if sent != asked.strip():
        assert searchable(sent) == sent, "what goes along is cut nowhere"
