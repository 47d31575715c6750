import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ConfigError
from ragcore.retrieval.query import CHARACTER_WEIGHT, MAX_EMBEDDED, MAX_TERMS, PART_WEIGHT, PARTICLE_WEIGHT, analyse
from ragcore.retrieval.scoring import K1, idf
from ragcore.retrieval.synonyms import Synonyms
from ragcore.retrieval.weighing import MAX_CLAUSES, weigh
from ragcore.stores.indexes import TermStatistics
from ragcore.terms import Kind, gap_of, gaps


def weights(text: str) -> dict[str, float]:
    return {clause.term: clause.weight for clause in analyse(text).clauses}


def test_function_words_drop_out_unless_there_is_nothing_else() -> None:
    assert weights("What is the vacation policy?") == {"vacat": 1.0, "polici": 1.0}
    assert weights("to be or not to be") != {}
    assert analyse("?!").clauses == ()


def test_an_identifier_counts_more_than_its_parts() -> None:
    asked = weights("why ERR_CONN_104")
    assert asked["err_conn_104"] == 1.0
    assert asked["conn"] == asked["104"] == PART_WEIGHT


def test_pairs_count_more_than_characters_and_than_what_straddles_words() -> None:
    asked = weights("板蓝根的功效")
    assert asked["功效"] == 1.0
    assert asked["功"] == CHARACTER_WEIGHT
    assert asked["根的"] == PARTICLE_WEIGHT
    assert weights("税")["税"] == 1.0
    japanese = weights("有給休暇の申請はいつまでですか")
    assert japanese["休暇"] == japanese["申請"] == 1.0
    assert japanese["暇の"] == japanese["つま"] == PARTICLE_WEIGHT


def test_quoted_phrases_are_noted() -> None:
    assert analyse('what says "annual leave" and “x”?').phrases == (("annual", "leav"),)
    assert analyse("《战国无双》是什么").phrases == (("战国", "国无", "无双"),)


@given(st.text(max_size=300))
def test_anything_can_be_asked(text: str) -> None:
    query = analyse(text, Synonyms.parse(["a, b c", "年假, 年休假"]))
    assert len({clause.term for clause in query.clauses}) == len(query.clauses)
    assert all(0 < clause.weight <= 1 for clause in query.clauses)
    statistics = TermStatistics(count=10, frequencies=tuple(len(term) % 4 for term in query.vocabulary))
    weighed = weigh(query, statistics)
    assert 0 <= weighed.known_ceiling <= weighed.ceiling + 1e-9
    assert len(weighed.keywords.clauses) <= MAX_CLAUSES


def test_a_pasted_page_stays_cheap() -> None:
    query = analyse(" ".join(f"word{number}" for number in range(50_000)))
    assert len(query.clauses) <= MAX_TERMS
    weighed = weigh(query, TermStatistics(count=100, frequencies=(1,) * len(query.vocabulary)))
    assert len(weighed.keywords.clauses) == MAX_CLAUSES


def test_the_question_after_a_pasted_log_is_read() -> None:
    pasted = " ".join(f"line{number}" for number in range(2_000))
    for text in (f"Why does the gasket leak?\n{pasted}", f"{pasted}\nWhy does the gasket leak?"):
        query = analyse(text)
        assert {"gasket", "leak"} <= {clause.term for clause in query.clauses}
        assert "Why does the gasket leak?" in query.text_to_embed
        assert len(query.text_to_embed) <= MAX_EMBEDDED + 1


def test_rare_terms_make_up_most_of_the_ceiling() -> None:
    query = analyse("vacation policy zebra")
    weighed = weigh(query, TermStatistics(count=1000, frequencies=(10, 900, 0)))
    assert weighed.ceiling == (idf(1000, 10) + idf(1000, 900) + idf(1000, 0)) * (K1 + 1)
    assert weighed.known_ceiling < weighed.ceiling / 1.5
    assert len(weighed.keywords.clauses) == 2


def test_an_identifier_is_exact_while_it_is_rare() -> None:
    query = analyse("ERR_CONN_104")
    rare = TermStatistics(count=1000, frequencies=tuple(3 if "_" in term else 500 for term in query.vocabulary))
    common = TermStatistics(count=1000, frequencies=(500,) * len(query.vocabulary))
    assert set(weigh(query, rare).exact) == {"err_conn_104"}
    assert weigh(query, common).exact == {}


def test_a_joined_word_that_nobody_writes_leaves_it_to_its_parts() -> None:
    query = analyse("state-of-the-art")
    unknown = TermStatistics(
        count=100, frequencies=tuple(0 if term == "stateoftheart" else 5 for term in query.vocabulary)
    )
    weighed = weigh(query, unknown)
    assert weighed.ceiling == weighed.known_ceiling
    assert any(clause.kind is Kind.PART for clause in query.clauses)


def test_synonyms_stand_in_for_words_and_phrases() -> None:
    table = Synonyms.parse(["# remark", "", "vacation, annual leave, PTO", "年假，带薪休假"])
    query = analyse("vacation", table)
    (clause,) = query.clauses
    assert set(clause.synonyms) == {("annual", "leav"), ("pto",)}
    weighed = weigh(query, TermStatistics(count=100, frequencies=(0, 4, 6, 0)))
    (alternatives,) = weighed.keywords.clauses
    assert [alternative.terms for alternative in alternatives] == [("annual", "leav")]
    both = analyse("annual leave", table).clauses
    assert all(("vacat",) in clause.synonyms for clause in both)
    chinese = {clause.term: clause.synonyms for clause in analyse("年假几天", table).clauses}
    assert chinese["年假"] == (("带薪", "薪休", "休假"),)


def test_an_abbreviation_is_looked_up_where_nobody_writes_it() -> None:
    query = analyse("年假")
    stand_in = gap_of("年假")
    assert stand_in in gaps("员工享有年休假十天")
    unknown = {"年假": 0, stand_in: 4}
    for frequency, wanted in ((unknown, stand_in), ({"年假": 7, stand_in: 4}, "年假")):
        statistics = TermStatistics(count=100, frequencies=tuple(frequency.get(term, 50) for term in query.vocabulary))
        asked = {term for clause in weigh(query, statistics).keywords.clauses for one in clause for term in one.terms}
        assert wanted in asked
        assert not {"年假", stand_in} - {wanted} & asked


def test_what_was_asked_before_helps_and_never_hurts() -> None:
    query = analyse("and in Berlin?", earlier=["How long is parental leave?"])
    own = {clause.term for clause in query.clauses if not clause.context}
    assert own == {"berlin"}
    assert {"parent", "leav"} <= {clause.term for clause in query.clauses if clause.context}
    statistics = TermStatistics(count=100, frequencies=(5,) * len(query.vocabulary))
    weighed = weigh(query, statistics)
    assert weighed.ceiling == weighed.known_ceiling == idf(100, 5) * (K1 + 1)
    assert len(weighed.keywords.clauses) == len(query.clauses)


def test_a_synonym_file_that_cannot_be_read_is_told_in_words(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match=r"the synonym file \S+gone\.txt is not there"):
        Synonyms.load(tmp_path / "gone.txt")
    (tmp_path / "latin.txt").write_bytes("Büro, office".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin\.txt is not text in UTF-8"):
        Synonyms.load(tmp_path / "latin.txt")
