import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieval.matching import matched_words
from ragcore.retrieval.query import analyse
from ragcore.retrieval.synonyms import Synonyms
from ragcore.terms import spotted, terms

MIXED = st.text(alphabet="abE_1 年假天的休有。かなは휴가.", max_size=40)


@pytest.mark.parametrize(
    ("asked", "text", "marked"),
    [
        ("年假有几天", "每年享有十天带薪年假，有人天天都有。", ("年假",)),
        ("年假的天数", "我们的年会，年假的天数是十。", ("年假的天数",)),
        ("上海的天气", "天气在上海的人", ("天气", "上海")),
        ("年假", "员工享有年休假十天", ("年休假",)),
        ("年假", "年假就是年休假", ("年假",)),
        ("税", "所得税", ("税",)),
        ("年假有几天", "年底有一天", ()),
        ("휴가는 며칠", "회사는 휴가를 줍니다", ("휴가",)),
        ("休暇は何日", "会社の休暇について", ("休暇",)),
        ("iPhone手机 2.0版本", "苹果iPhone 手机的版本2.0", ("iPhone", "手机", "版本", "2.0")),
        ("why does ERR_CONN_104 come up in the vacations?", "ERR_CONN_104, on Vacation", ("ERR_CONN_104", "Vacation")),
    ],
)
def test_whole_words_are_marked(asked: str, text: str, marked: tuple[str, ...]) -> None:
    assert matched_words(analyse(asked), text) == marked


def test_synonyms_are_marked_too() -> None:
    query = analyse("PTO", Synonyms.parse(["PTO, annual leave, 带薪休假"]))
    assert matched_words(query, "Annual leave means 带薪休假.") == ("Annual", "leave", "带薪休假")


@given(MIXED, MIXED)
def test_what_is_marked_stands_in_the_text(asked: str, text: str) -> None:
    marked = matched_words(analyse(asked), text)
    assert all(word and word in text for word in marked)
    assert len(set(marked)) == len(marked)


@given(MIXED, st.sets(st.sampled_from(["a", "b", "年假", "年", "天", "かな", "휴가"])))
def test_spotting_is_analysing_and_keeping_what_is_wanted(text: str, wanted: set[str]) -> None:
    assert spotted(text, wanted) == [term for term in terms(text) if term.text in wanted]
