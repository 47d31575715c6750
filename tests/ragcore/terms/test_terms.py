import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.terms import Kind, Term, is_stop_word, language_of, term_texts, terms

ANY_TEXT = st.text(max_size=200) | st.text(alphabet="aB9é年假ガｶﾞ회नमा._-/:@'’,()# \n", max_size=60)


def texts(source: str) -> set[str]:
    return {term.text for term in terms(source)}


@given(ANY_TEXT)
def test_terms_stand_in_the_source_in_order_of_their_start_within_one_token(source: str) -> None:
    for term in terms(source):
        assert 0 <= term.start < term.end <= len(source)
        assert term.text
        assert not any(character.isspace() for character in term.text)


@given(ANY_TEXT)
def test_both_forms_of_the_analysis_agree(source: str) -> None:
    assert term_texts(source) == [(term.text, term.kind) for term in terms(source)]


@given(ANY_TEXT, ANY_TEXT)
def test_texts_are_analysed_line_by_line(first: str, second: str) -> None:
    assert texts(f"{first}\n\n{second}") == texts(first) | texts(second)


@given(st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1, max_size=30))
def test_no_letter_and_no_digit_of_any_script_is_lost(source: str) -> None:
    covered = {place for term in terms(source) for place in range(term.start, term.end)}
    assert covered == set(range(len(source)))


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=20), st.data())
def test_a_two_character_word_is_found_wherever_it_stands(source: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(source) - 2))
    word = source[place : place + 2]
    (asked,) = [term for term in terms(word) if term.kind is Kind.PAIR]
    assert any(term.text == asked.text and source[term.start : term.end] == word for term in terms(source))


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("公司的年假有五天", "年假"),
        ("会社の休暇について", "休暇"),
        ("회사는 휴가를 줍니다", "휴가"),
        ("ガイドライン", "ｶﾞｲﾄﾞ"),
        ("ภาษาไทย", "ไทย"),
        ("Employees' vacations", "employee vacation"),
        ("Ｃａｆé１２", "cafe12"),
        ("CAFÉ naïve Straße", "cafe naive strasse"),
        ("за границами", "граница"),
        ("a wi-fi router", "wifi"),
        ("a WiFi router", "wi-fi router"),
        ("costs 1,000,000 now", "1000000"),
        ("infor\u00admation", "information"),
    ],
)
def test_what_is_meant_is_found(source: str, asked: str) -> None:
    wanted = {term.text for term in terms(asked) if term.kind in {Kind.WORD, Kind.PAIR, Kind.IDENTIFIER}}
    assert wanted & texts(source) == wanted or wanted <= texts(source)


@pytest.mark.parametrize(
    ("source", "whole", "parts"),
    [
        ("ERR_CONN_104", "err_conn_104", {"err", "conn", "104"}),
        ("see v2.3.1!", "v2.3.1", {"2.3.1"}),
        ("call foo.bar().", "foo.bar", {"foo", "bar"}),
        ("open /etc/nginx/nginx.conf", "etc/nginx/nginx.conf", {"etc", "nginx.conf", "nginx", "conf"}),
        ("write to me@example.com,", "me@example.com", {"example.com"}),
        ("report-2023.pdf", "report-2023.pdf", {"report", "2023", "pdf"}),
        ("COVID-19", "covid19", {"covid", "19"}),
        ("getUserById", "getuserbyid", {"get", "user"}),
        ("C++ and C#", "c++", {"c#"}),
        ("请问C#是什么", "c#", {"请问"}),
        ("R&D", "r&d", set()),
        ("2023-10-05", "2023-10-05", {"2023"}),
        ("10mg", "10mg", {"10", "mg"}),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(source: str, whole: str, parts: set[str]) -> None:
    assert whole in {term.text for term in terms(source) if term.kind is Kind.IDENTIFIER}
    assert parts <= texts(source)


@pytest.mark.parametrize("source", ["and/or", "10-20", "foo,bar", "one:two"])
def test_words_set_side_by_side_are_no_identifier(source: str) -> None:
    assert not [term for term in terms(source) if term.kind is Kind.IDENTIFIER]


def test_a_long_text_without_spaces_is_one_pass() -> None:
    assert len(terms("a" * 300_000)) == 1
    assert len(terms("ab/" * 20_000)) > 20_000


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("How many days?", "en"),
        ("年假有几天", "zh"),
        ("休暇は何日ですか", "ja"),
        ("휴가는 며칠", "ko"),
        ("Сколько дней", "ru"),
        ("كم يوما", "ar"),
        ("कितने दिन", "hi"),
        ("ภาษาไทย", "th"),
        ("12345 !?", "en"),
        ("", "en"),
        ("iOS里把一个页面链接分享给微信好友", "zh"),
    ],
)
def test_the_script_tells_the_language(source: str, language: str) -> None:
    assert language_of(source) == language


def test_function_words_are_known() -> None:
    for word in ("the", "of", "什么", "です", "は何", "誰に", "这", "и", "며칠", "니까"):
        assert is_stop_word(word)
    for word in ("vacation", "年假", "не-то", ""):
        assert not is_stop_word(word)
    assert not is_stop_word(Term("the", 0, 3, Kind.IDENTIFIER))
