import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ParseError
from ragcore.parsing import parse
from ragcore.parsing.encoding import decode

SIMPLIFIED = "员工每年享有十五天带薪年假 未使用的年假最多可结转五天至次年三月底 申请须提前两周提交给主管审批 公司为所有员工提供医疗保险 出差费用凭发票报销"
TRADITIONAL = "員工每年享有十五天帶薪年假 未使用的年假最多可結轉五天至次年三月底 申請須提前兩週提交給主管審批 公司為所有員工提供醫療保險 出差費用憑發票報銷"
JAPANESE = "従業員は年間15日の有給休暇を取得できます 未使用の休暇は翌年3月末まで繰り越すことができます 会社はすべての社員に健康保険を提供します"
KOREAN = "직원은 연간 15일의 유급 휴가를 사용할 수 있습니다 사용하지 않은 휴가는 다음 해 3월 말까지 이월됩니다 회사는 모든 직원에게 보험을 제공합니다"
RUSSIAN = (
    "Сотрудникам предоставляется пятнадцать дней оплачиваемого отпуска в год и медицинская страховка за счёт компании"
)
LATIN = "Les employés bénéficient de congés payés été déjà Größe Straße für Mädchen über señor año niño coração não são à l’œuvre"

WRITTEN = [
    ("gb18030", SIMPLIFIED),
    ("big5", TRADITIONAL),
    ("shift_jis", JAPANESE),
    ("euc_jp", JAPANESE),
    ("euc_kr", KOREAN),
    ("cp1251", RUSSIAN),
    ("cp1252", LATIN),
    ("utf-8", SIMPLIFIED + KOREAN + LATIN),
    ("utf-8-sig", JAPANESE + LATIN),
    ("utf-16", TRADITIONAL + LATIN),
    ("utf-32", KOREAN + LATIN),
]


@pytest.mark.parametrize(("encoding", "phrases"), WRITTEN, ids=[encoding for encoding, _ in WRITTEN])
@given(data=st.data())
def test_text_comes_back_from_the_encoding_it_was_written_in(encoding: str, phrases: str, data: st.DataObject) -> None:
    words = data.draw(st.permutations(phrases.split()))
    words = words[: data.draw(st.integers(min(5, len(words)), len(words)))]
    ascii_lead = data.draw(st.sampled_from(["", "Annual report 2023\n", "id,name\n1,"]))
    text = ascii_lead + " ".join(words) + "\n"
    assert decode(text.encode(encoding)).text == text


@given(text=st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), min_size=1))
def test_any_text_in_utf8_comes_back(text: str) -> None:
    assert decode(text.encode()).text == text.removeprefix("\ufeff")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark_is_told_by_its_zero_bytes(encoding: str) -> None:
    text = "Employees may carry over five days.\n员工每年享有十五天带薪年假。\n"
    assert decode(text.encode(encoding)).text == text


def test_a_declared_charset_is_believed_when_it_fits_and_not_otherwise() -> None:
    greek = "Οι εργαζόμενοι δικαιούνται άδεια"
    assert (
        greek
        in parse(f"<html><meta charset=iso-8859-7><p>{greek}</p>".encode("iso-8859-7"), name="x.html").sections[0].text
    )
    wrong = f"<html><meta charset=gb2312><p>{JAPANESE}</p>".encode()
    assert JAPANESE.split(maxsplit=1)[0] in parse(wrong, name="x.html").sections[0].text


CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy a zaměstnanci mají patnáct dní dovolené"
TURKISH = "Çalışanlar yılda on beş gün ücretli izin alır ve şirket sağlık sigortası sağlar"
GREEK = "Οι εργαζόμενοι έχουν δεκαπέντε ημέρες άδειας τον χρόνο και η εταιρεία πληρώνει"


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (CZECH, "iso-8859-2"),
        (CZECH, "windows-1250"),
        (TURKISH, "iso-8859-9"),
        (GREEK, "iso-8859-7"),
        ("Es kostet fünf €", "iso-8859-15"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "iso-8859-5"),
    ],
)
def test_a_declared_charset_of_single_bytes_is_believed(text: str, charset: str) -> None:
    assert decode(text.encode(charset), declared=charset).text == text


@pytest.mark.parametrize("declared", ["iso-8859-2", "iso-8859-15", "windows-1254"])
def test_a_wrong_declaration_does_not_spoil_other_scripts(declared: str) -> None:
    assert decode(SIMPLIFIED.encode("gb18030"), declared=declared).text == SIMPLIFIED
    assert decode(RUSSIAN.encode("cp1251"), declared=declared).text == RUSSIAN


@pytest.mark.parametrize(("text", "encoding"), [(CZECH, "cp1250"), (GREEK, "cp1253"), (GREEK, "iso-8859-7")])
def test_languages_without_a_candidate_of_their_own_are_told_too(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_utf8_that_was_cut_inside_a_character_is_still_utf8() -> None:
    assert decode(SIMPLIFIED.encode()[:-1]).encoding == "utf-8"


@given(st.binary(min_size=200, max_size=2000).map(lambda content: content + bytes(60)))
def test_binary_with_runs_of_zeros_is_refused(content: bytes) -> None:
    with pytest.raises(ParseError, match="neither text"):
        decode(b"\x01\x02" + content)
