"""In whatever language a model owns that the documents do not tell, it is not accused of having no source."""

import time

import pytest

from ragcore.citations.cite import cite
from ragcore.citations.disclaimers import disclaims
from ragcore.types import Chunk, Support

DISCLAIMERS = [
    "Leider steht dazu nichts in den Dokumenten.",
    "Dazu habe ich in den Dokumenten keine Angaben gefunden.",
    "Die Unterlagen enthalten keine Informationen zum Elternurlaub.",
    "Das geht aus den Dokumenten nicht hervor.",
    "In den vorliegenden Texten wird die Parkordnung nicht erwähnt.",
    "Das weiß ich leider nicht.",
    "Hierover staat niets in de documenten.",
    "De documenten bevatten geen informatie over parkeren.",
    "Les documents ne mentionnent pas le télétravail.",
    "Je n'ai trouvé aucune information à ce sujet dans les documents.",
    "Los documentos no mencionan el aparcamiento.",
    "No he encontrado nada sobre esto en los documentos.",
    "I documenti non menzionano il parcheggio.",
    "Non ho trovato nulla nei documenti.",
    "Os documentos não mencionam o estacionamento.",
    "Não encontrei nada sobre isto nos documentos.",
    "Dokumenten innehåller ingen information om parkering.",
    "Det står ikke noget om parkering i dokumenterne, og det er ikke nævnt.",
    "W dokumentach nie ma informacji o parkowaniu.",
    "Dokumenty nie wspominają o parkingu.",
    "V dokumentech o tom není žádná informace.",
    "Belgelerde bu konuda bilgi bulunmamaktadır.",
    "Asiakirjoissa ei mainita pysäköintiä.",
    "В документах об этом ничего не сказано.",
    "Документы не содержат информации о парковке.",
    "У документах немає інформації про це.",
    "Tài liệu không đề cập đến chỗ đậu xe.",
    "Dokumen tidak menyebutkan tempat parkir.",
    "文書には駐車場に関する記載はありません。",
    "その点については分かりません。",
    "문서에는 주차에 대한 내용이 없습니다.",
]
CLAIMS = [
    "Dokumente ohne Unterschrift werden nicht angenommen.",
    "In den Dokumenten steht nichts zum Preis, aber der Urlaub beträgt 25 Tage.",
    "Der Zutritt ist nachts nicht erlaubt.",
    "Les visiteurs ne peuvent pas entrer la nuit.",
    "No se permite fumar en la oficina.",
    "Non è possibile entrare di notte.",
    "Os visitantes não entram sem cartão.",
    "Pracownicy nie mogą palić w biurze.",
    "Сотрудники не работают по выходным.",
    "社員は土曜日に働きません。",
    "The men who sign the documents are not paid.",
]


@pytest.mark.parametrize("sentence", DISCLAIMERS)
async def test_a_model_that_owns_it_in_its_language_is_not_branded(sentence: str) -> None:
    text = "Die Pumpe hält an, wenn der Tank leer ist. Der Sensor meldet das der Steuerung über das Netz."
    chunks = [
        Chunk(id=str(i), document_id=f"s:{i}", knowledge_base="s", ordinal=0, text=one, title="", token_count=20)
        for i, one in enumerate((text, "The pump stops when the tank is empty, and the sensor tells the control."))
    ]
    assert disclaims(sentence)
    assert (await cite(sentence, chunks)).support is Support.EXEMPT


@pytest.mark.parametrize("sentence", CLAIMS)
def test_what_is_denied_of_the_world_is_a_claim(sentence: str) -> None:
    assert not disclaims(sentence)


def test_a_long_sentence_is_read_in_linear_time() -> None:
    started = time.perf_counter()
    for word in ("dokument nicht ", "keine angabe ", "documents ne "):
        disclaims(word * 2000)
    assert time.perf_counter() - started < 2
