from hypothesis import given
from hypothesis import strategies as st

from ragcore.models.embeddings import vector_key


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_a_key_belongs_to_one_embedder_and_one_text(name: str, text: str, other_name: str, other_text: str) -> None:
    same = (name, text) == (other_name, other_text)
    assert (vector_key(name, text) == vector_key(other_name, other_text)) is same


def test_a_key_is_stable_and_fits_its_column() -> None:
    assert vector_key("minilm", "some text") == "f4f1d56ed7f8f6c02b47c22e423b3aa22a7c009250387de18c1aeb91b869f708"
    assert len(vector_key("m", "\ud800")) == 64
