"""A right answer in another language than its documents keeps its markers; a wrong number in it loses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.attribution import Judge, insert, verify
from ragcore.citations.cite import cite
from ragcore.citations.evidence import Source
from ragcore.citations.scoring import CitationPolicy
from ragcore.types import Chunk, Support

LEAVE = (
    "Full-time employees receive 25 days of paid leave a year. Up to 5 days carry over until 31 March. "
    "The office opens at 2:30 pm."
)
RIGHT = [
    "Mitarbeiter in Vollzeit haben Anspruch auf 25 Tage bezahlten Urlaub pro Jahr",
    "Bis zu 5 Tage können bis zum 31.3. übertragen werden",
    "Das Büro öffnet um 14.30 Uhr",
    "Jahresurlaub: 25 Tage",
    "Voltijdmedewerkers krijgen 25 betaalde vakantiedagen per jaar",
    "Maximaal 5 dagen mogen tot 31 maart worden meegenomen",
    "Heltidsanställda får 25 dagars betald semester per år",
    "Højst 5 dage kan overføres til 31. marts",
    "Pracownicy pełnoetatowi otrzymują 25 dni płatnego urlopu rocznie",
    "Zaměstnanci na plný úvazek mají nárok na 25 dní placené dovolené",
    "I dipendenti a tempo pieno ricevono 25 giorni di ferie retribuite",
    "Os funcionários a tempo inteiro recebem 25 dias de férias pagas",
    "Tam zamanlı çalışanlar yılda 25 gün ücretli izin alır",
    "Kokoaikaiset työntekijät saavat 25 päivää palkallista lomaa",
    "Nhân viên toàn thời gian được nghỉ phép 25 ngày",
    "Karyawan penuh waktu mendapat 25 hari cuti berbayar",
    "Les salariés à temps plein ont droit à 25 jours de congé",
    "Los empleados a tiempo completo reciben 25 días de vacaciones",
    "Сотрудники получают 25 дней оплачиваемого отпуска в год",
    "正社員には年間25日の有給休暇があります",
]


def chunk(text: str) -> Chunk:
    return Chunk(
        id="0", document_id="s:0", knowledge_base="s", ordinal=0, text=text, title="Handbook", token_count=len(text)
    )


@given(st.lists(st.sampled_from(RIGHT), min_size=1, max_size=5))
def test_a_right_answer_in_any_language_keeps_its_markers(sentences: list[str]) -> None:
    answer = " ".join(f"{sentence} [ID:0]." for sentence in sentences)
    assert verify(answer, Judge([Source(chunk(LEAVE))], CitationPolicy())) == answer


@given(st.sampled_from([one for one in RIGHT if "25" in one]), st.integers(32, 99))
def test_a_number_that_the_passage_lacks_is_seen_across_languages(sentence: str, number: int) -> None:
    wrong = sentence.replace("25", str(number))
    judge = Judge([Source(chunk(LEAVE))], CitationPolicy())
    assert verify(f"{wrong} [ID:0].", judge) == f"{wrong}."


@pytest.mark.parametrize("sentence", RIGHT)
async def test_a_right_answer_that_the_model_left_bare_is_not_branded(sentence: str) -> None:
    question = "" if sentence.count(" ") > 2 else "Wie viele Tage Urlaub habe ich?"
    assert (await cite(f"{sentence}.", (chunk(LEAVE),), question=question)).support is not Support.UNSUPPORTED


async def test_what_is_wrong_in_the_language_of_the_passage_is_still_branded() -> None:
    whales = "Whales sing at night in the Pacific [ID:0]."
    assert (await cite(whales, (chunk(LEAVE),), question="Wann singen Wale?")).support is Support.UNSUPPORTED
    mixed = f"{RIGHT[0]} [ID:0]. {whales}"
    assert (await cite(mixed, (chunk(LEAVE),))).text == f"{RIGHT[0]} [ID:0]. Whales sing at night in the Pacific."


def test_a_number_in_words_of_the_passage_is_the_one_in_digits() -> None:
    judge = Judge([Source(chunk("Es gibt fünf Tage Urlaub und zwölf Feiertage für alle im Jahr."))], CitationPolicy())
    answer = "There are 5 days of leave and 12 public holidays for everyone [ID:0]."
    assert verify(answer, judge) == insert(answer, judge) == answer
