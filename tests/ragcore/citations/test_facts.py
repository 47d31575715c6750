"""Numbers, codes and names compared across scripts and ways of writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.facts import contradicts
from ragcore.citations.numbers import missing_numbers, values_of


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
        ("1,000 euros", "1.000 Euro"),
        ("1 000 €", "一千元"),
        ("1000", "one thousand"),
        ("250,000", "two hundred and fifty thousand"),
        ("25 days", "twenty-five days"),
        ("3,5 %", "3.5 percent"),
        ("1.234,50", "1,234.5"),
        ("5%", "百分之五"),
        ("1k", "1000"),
        ("两千欧元", "2,000 euros"),
        ("Opens at 3 PM.", "Opens at 15:00."),
        ("Opens at 15:00.", "Opens at 3 p.m."),
        ("15:00", "下午三点"),
        ("下午3点", "15:00"),
        ("12:00", "noon"),
        ("15 h", "15 Uhr"),
        ("2024-03-05", "le 5 mars 2024"),
        ("5.3.2024", "March 5, 2024"),
        ("05/03/2024", "5. März 2024"),
        ("on the 5th", "on the fifth"),
        ("in the 20th century", "in the twentieth century"),
        ("about 98,000", "97,500"),
        ("items 1,2,3", "1, 2 and 3"),
        ("COVID-19", "covid 19"),
        ("It emits CO2.", "It emits carbon dioxide."),
        ("a 5GB disk in the 1990s", "a disk of 5 GB in the 1990s"),
        ("十分重要，千万不要忘记。", "It matters."),
        ("Beijing is large.", "北京很大。"),
        ("只有 ٣ 天。", "Only 3 days."),
        # Number words of the sentence.
        ("It takes five days.", "It takes 5 days."),
        ("It takes twenty-five days.", "It takes 25 days."),
        ("It takes twenty-five days.", "需要二十五天。"),
        ("Two hundred and fifty thousand people live there.", "It has 250,000 people."),
        ("It was founded in nineteen eighty-four.", "It was founded in 1984."),
        ("About fifty people came.", "52 people came."),
        ("The twentieth century began.", "The 20th century began."),
        ("It costs two and a half million.", "It costs 2.5 million."),
        ("Two thirds of it are kept.", "67 % of it are kept."),
        ("Tens of thousands came, and several hundred stayed.", "A lot of people came."),
        ("One of the offices is in Lyon. Second, it is small.", "An office is in Lyon."),
        ("It has two offices.", "It has an office in Lyon and an office in Paris."),
        ("There are three ways to pay.", "Pay by card, by cash or by transfer, within 30 days."),
        ("It takes fifty days.", "Es dauert fünfzig Tage, und das ist auch nicht zu ändern."),
        ("每年五天假。", "5 days of leave a year."),
        ("每年十五天假。", "每年15天假。"),
        ("共两个办公室。", "办公室位于里昂和巴黎。"),
        ("百分之五留作备用。", "5 % is kept back."),
        ("第二天开会，周五年会，三分之一的人参加。", "会议在年底。"),
        ("第五条规定了假期。", "第5条 假期"),
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
        ("2,000 euros", "1,000 euros"),
        ("6 %", "5 %"),
        ("at 4 PM", "at 15:00"),
        ("at 15:30", "at 15:00"),
        ("6 March", "5 March"),
        ("2024-04-05", "5 March 2024"),
        ("两千元", "一千元"),
        ("about 98,000", "45,000"),
        ("Error E-418", "Error E-417"),
        ("Staff get fifty days of leave a year.", "Staff get five days of leave a year."),
        ("Staff get five days of leave a year.", "Staff get fifty days of leave a year."),
        ("Staff get fifteen days.", "Staff get 50 days."),
        ("Two hundred and fifty thousand people", "two hundred and fifteen thousand people"),
        ("Staff get two days.", "Staff get twenty days."),
        ("Staff get three days.", "Staff get 30 days."),
        ("on the fifth floor", "on the fiftieth floor"),
        ("about fifty people", "thirty people"),
        ("每年五十天假。", "每年五天假。"),
        ("每年五天假。", "每年五十天假。"),
        ("每年十五天假。", "每年五天假。"),
        ("试用期三个月。", "试用期六个月。"),
        ("百分之三留作备用。", "百分之五留作备用。"),
        ("第二十五条规定了假期。", "第二十六条 假期"),
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


@pytest.mark.parametrize(
    "unit",
    [
        "9",
        "9,",
        "万",
        "亿",
        "1、",
        "v1.",
        "1e9",
        "٣",
        "1.",
        "1 000",
        "3:",
        "3pm",
        "two hundred ",
        "下午3点",
        "five",
        "five-",
        "and ",
        "a hundred and ",
        "两天",
    ],
)
def test_endless_numbers_end(unit: str) -> None:
    values_of(unit * 5_000)
    contradicts(unit * 5_000, "nothing")
