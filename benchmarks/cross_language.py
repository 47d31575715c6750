"""Answers in ten languages over English and Chinese passages: are right ones left alone, and wrong ones found?

    python -m benchmarks.cross_language [--misses]

Forty answers of our own, four a language: two right ones, one with a wrong number or code, and one that says in words
what the passage does not, which nobody can tell without knowing both languages. The first five languages were looked
at while the check was written, the other five were not.

*Branded*: a right answer that loses a marker or is called unsupported. *Passed*: a wrong answer that keeps a marker.
"""

import asyncio
import sys
from dataclasses import dataclass

from ragcore.citations import markers
from ragcore.citations.cite import cite
from ragcore.types import Chunk, Support

LEAVE = (
    "Full-time employees receive 25 days of paid leave a year. Up to 5 days carry over until 31 March. Requests go to "
    "the team lead two weeks ahead."
)
DEVICE = (
    "The TW-200 weighs 1.4 kg with its charger. Charge it between 5 and 40 degrees. Error E-417 means that the sensor "
    "must be replaced by the service partner; error E-402 goes away after a restart."
)
TRAVEL = (
    "Train journeys under six hours are booked in second class. Hotels are reimbursed up to 140 euros a night. Hand in "
    "receipts within 30 days, or the claim lapses."
)
BADGE = "员工丢失门禁卡后应在24小时内向前台报告。补办新卡的费用为50元，通常需要3个工作日。访客须由员工陪同。"
BACKUP = "数据库每天凌晨2点自动备份，备份保留90天。恢复数据须由系统管理员张伟批准，使用工具 DBR-7。"
PASSAGES = {"leave": LEAVE, "device": DEVICE, "travel": TRAVEL, "badge": BADGE, "backup": BACKUP}
SEEN = ("de", "nl", "sv", "pl", "pt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An answer whose sentences all cite the one passage; ``fault`` is "" for a right one, "fact" or "words" else."""

    language: str
    passage: str
    fault: str
    answer: str


def _cases() -> list[Case]:
    rows = [line.split("|") for line in _ROWS.strip().splitlines()]
    return [Case(language=a, passage=b, fault=c, answer=d.replace("@", "[ID:0]")) for a, b, c, d in rows]


_ROWS = """
de|leave||Mitarbeiter in Vollzeit haben Anspruch auf 25 Tage bezahlten Urlaub pro Jahr @. Bis zu 5 Tage können bis zum 31. März übertragen werden @.
de|badge||Der Verlust der Zutrittskarte muss innerhalb von 24 Stunden am Empfang gemeldet werden @. Eine neue Karte kostet 50 Yuan @.
de|leave|fact|Bis zu 6 Tage Resturlaub können übertragen werden @.
de|device|words|Das Gerät darf nur im Freien betrieben werden @.
nl|travel||Treinreizen van minder dan zes uur worden in de tweede klas geboekt @. Bonnetjes moeten binnen 30 dagen worden ingeleverd @.
nl|device||Bij fout E-417 vervangt de servicepartner de sensor @. Fout E-402 verdwijnt na een herstart @.
nl|travel|fact|Hotelkosten worden tot 190 euro per nacht vergoed @.
nl|backup|words|Medewerkers mogen zelf gegevens terugzetten @.
sv|leave||Heltidsanställda får 25 dagars betald semester per år @. Högst 5 dagar kan sparas till den 31 mars @.
sv|device||Laddning sker mellan 5 och 40 grader @. TW-200 väger 1,4 kg inklusive laddare @.
sv|device|fact|Felkod E-419 betyder att sensorn måste bytas @.
sv|travel|words|Taxiresor ersätts alltid fullt ut @.
pl|leave||Pracownicy pełnoetatowi otrzymują 25 dni płatnego urlopu rocznie @. Wnioski składa się u kierownika zespołu @.
pl|backup||Kopia zapasowa bazy danych tworzona jest codziennie o 2 w nocy @. Kopie przechowywane są przez 90 dni @.
pl|backup|fact|Kopie zapasowe przechowuje się 60 dni @.
pl|leave|words|Urlop zatwierdza wyłącznie zarząd spółki @.
pt|travel||As viagens de comboio com menos de seis horas são reservadas em segunda classe @. Hotéis: até 140 euros por noite @.
pt|badge||A perda do cartão deve ser comunicada à receção em 24 horas @. Os visitantes são acompanhados por um funcionário @.
pt|badge|fact|Um novo cartão custa 80 yuans @.
pt|device|words|O aparelho pode ser lavado com água quente @.
cs|leave||Zaměstnanci na plný úvazek mají nárok na 25 dní placené dovolené ročně @. Žádosti se podávají vedoucímu týmu @.
cs|backup||Obnovu dat schvaluje správce systému a používá se nástroj DBR-7 @. Zálohy se uchovávají 90 dnů @.
cs|leave|fact|Do dalšího roku lze převést nejvýše 8 dnů @.
cs|travel|words|Letenky hradí zaměstnanec @.
tr|device||TW-200 şarj aletiyle birlikte 1,4 kg ağırlığındadır @. E-402 hatası yeniden başlatınca kaybolur @.
tr|badge||Kartını kaybeden çalışanlar 24 saat içinde danışmaya bildirmelidir @. Yeni kart genellikle 3 iş günü sürer @.
tr|device|fact|Cihaz 5 ile 60 derece arasında şarj edilmelidir @.
tr|leave|words|Ücretli izin yalnızca yaz aylarında kullanılabilir @.
fi|travel||Alle kuuden tunnin junamatkat varataan toisessa luokassa @. Kuitit on toimitettava 30 päivän kuluessa @.
fi|leave||Kokoaikaiset työntekijät saavat 25 päivää palkallista lomaa vuodessa @. Lomapäiviä voi siirtää enintään 5 @.
fi|travel|fact|Hotelli korvataan 240 euroon asti yöltä @.
fi|badge|words|Vieraat saavat liikkua vapaasti @.
it|leave||I dipendenti a tempo pieno hanno diritto a 25 giorni di ferie retribuite all'anno @. Richieste: due settimane prima @.
it|backup||Il database viene salvato ogni notte alle 2 @. I backup sono conservati per 90 giorni @.
it|backup|fact|Il ripristino avviene con lo strumento DBR-9 @.
it|travel|words|I pasti non vengono mai rimborsati @.
vi|leave||Nhân viên toàn thời gian được nghỉ phép 25 ngày có lương mỗi năm @. Tối đa 5 ngày được chuyển sang đến 31 tháng 3 @.
vi|device||Lỗi E-417 nghĩa là cảm biến phải được thay @. Lỗi E-402 biến mất sau khi khởi động lại @.
vi|leave|fact|Nhân viên được nghỉ 35 ngày mỗi năm @.
vi|backup|words|Bản sao lưu được gửi cho khách hàng @.
"""


async def branded(case: Case) -> bool:
    """Return whether an answer lost a marker or is called unsupported."""
    text = PASSAGES[case.passage]
    chunk = Chunk(
        id="0", document_id="s:0", knowledge_base="s", ordinal=0, text=text, title="Handbook", token_count=len(text)
    )
    cited = await cite(case.answer, (chunk,))
    return len(markers.find(cited.text)) < case.answer.count("[ID:0]") or cited.support is Support.UNSUPPORTED


async def main(arguments: list[str]) -> None:
    cases = _cases()
    found = [await branded(case) for case in cases]
    for name, half in (("looked at", True), ("held out", False)):
        for fault, words in (
            ("", "right, branded"),
            ("fact", "wrong number or code, passed"),
            ("words", "wrong in words, passed"),
        ):
            here = [
                b
                for case, b in zip(cases, found, strict=True)
                if case.fault == fault and (case.language in SEEN) is half
            ]
            bad = sum(here) if not fault else len(here) - sum(here)
            print(f"{name:10} {words:30} {bad} of {len(here)}")
    if "--misses" in arguments:
        for case, b in zip(cases, found, strict=True):
            if b is not bool(case.fault):
                print(case.language, case.fault or "right", case.answer)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
