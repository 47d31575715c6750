"""Numbers, codes and names compared across scripts and ways of writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.facts import contradicts, missing_numbers, values_of


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Staff get 25 days.", "每年二十五天带薪假。"),
        ("It has 3 parts.", "It has three parts."),
        ("营收为350万元。", "Revenue was 3.5 million."),
        ("It cost 1,234.50 dollars.", "The price: 1234.5"),
        ("会议在2024年3月5日举行。", "The meeting was on March 5, 2024."),
        ("会议在2024年3月5日举行。", "date: 2024-03-05"),
        ("成立于2019年。", "二〇一九年成立"),
        ("团队使用 Live Photos 功能。", "Use LivePhotos."),
        ("Error ERR_CONN_104 means closed.", "错误 ERR_CONN_104 表示已关闭"),
        ("1、打开设置。2、点击保存。", "Open the settings and save."),
        ("Beijing is large.", "北京很大。"),
        ("只有 ٣ 天。", "Only 3 days."),
    ],
)
def test_what_agrees_does_not_contradict(sentence: str, text: str) -> None:
    assert not contradicts(sentence, text)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Staff get 12 days.", "每年二十五天带薪假。"),
        ("营收为360万元。", "Revenue was 3.5 million."),
        ("里昂办公室使用 Kubernetes。", "The office in Lyon uses Docker."),
        ("Error ERR_CONN_105 means closed.", "错误 ERR_CONN_104 表示已关闭"),
        ("版本 v2.3.1 修复了它。", "Fixed in v2.4.0."),
    ],
)
def test_a_number_code_or_name_that_is_absent_contradicts(sentence: str, text: str) -> None:
    assert contradicts(sentence, text)


def test_missing_numbers_are_counted() -> None:
    assert missing_numbers("From 3 to 9 and 40%.", "nine of 40") == (1, 3)


@given(st.text(max_size=200))
def test_any_text_states_finite_values_or_none(text: str) -> None:
    assert isinstance(values_of(text), frozenset)
    assert not contradicts(text, text)


@pytest.mark.parametrize("unit", ["9", "9,", "万", "亿", "1、", "v1.", "1e9", "٣"])
def test_endless_numbers_end(unit: str) -> None:
    values_of(unit * 5_000)
    contradicts(unit * 5_000, "nothing")
