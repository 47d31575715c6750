"""Text that breaks what counts and cuts text: scripts without spaces, characters of many code points, special tokens."""

from hypothesis import strategies as st

CLUSTERS = (
    "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "e\u0301", "o\u0302\u0323", "\r\n",
    "ก็", "กำ", "❤\ufe0f", "\u1112\u1161\u11ab", "षि", "ｶﾞ", "か\u3099", "ن\u0651",
)  # fmt: skip
"""Each is one character to its reader."""

FRAGMENTS = (
    *CLUSTERS,
    "A short sentence. ", "Dr. Who came. ", "word ", "x" * 90, "...", "1234567", "年假、病假；", "词语很多。", "。\r\n", "日本語の文。」",
    "한국어 문장. ", "ภาษาไทยไม่มีช่องว่าง", "النص العربي، ثم جملة؟ ", "हिन्दी वाक्य। ", "क्ष", "договор. ", "Ünïcödé; ",
    "<|endoftext|>", "<|im_start|>", "𠀀", "\ud800", "\u200d", "\u200b", "\u0301", "\u2028", "\t\t", "\n", "\n\n", "\r", " ", "  ",
    "```\n", "```python\nx = 1\n```\n", "| a | b |\n", "| --- | --- |\n", "- item\n", "[link](https://x.example/a?b=c)", "\x00",
)  # fmt: skip

NASTY = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.tuples(st.sampled_from(FRAGMENTS), st.integers(1, 300)).map(lambda pair: pair[0] * pair[1]),
    st.text(max_size=120),
)
