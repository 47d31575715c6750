"""Method ``qa``: each question with its answer is one chunk, found by both and quoted whole.

Pairs are the rows of a table with a column of questions (named as such, or the first of two), text under a heading
that asks, and text that marks them: ``Q: ... A: ...``, ``问：…… 答：……``, a line that ends with a question mark.

- A pair over the budget is cut by ``naive``; each part begins with the question (a row: with the header and the
  question) where that takes at most half the budget.
- Question and answer are embedded together, for what is asked is often answered where something else was asked; with
  ``qa_embed = "question"`` the question alone, as RAGFlow does. The answer is found by words either way. nDCG@10 with
  MiniLM of ``naive``, question alone, question and answer, no question asked as it is stored: faq-zoomcamp 0.936,
  0.890, 0.937 (947 pairs, 800 paraphrases of their questions); 453 pairs made of the passages of inscit and their first
  questions, asked 32 others that these answer: 0.877, 0.838, 0.864.
- Rows without a question go with the pair above them where they answer; all else that is no pair is cut by ``naive``.
- Below a heading with a question mark a table of questions hasn't that other question in its path, nor have marked
  questions behind text that answers it.
- A table's first row is a pair, not names, when its first cell asks something.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.boxes import few
from ragcore.chunking import naive
from ragcore.chunking.pieces import MIN_CHUNK_TOKENS, ChunkOptions, Piece
from ragcore.chunking.places import Places
from ragcore.chunking.questions import find_pairs, has_question_mark, is_question, plain_question
from ragcore.chunking.rows import Grid, Row, RowCutter, cell_start, read_grid
from ragcore.tokens import Tokenizer
from ragcore.types import Location, Section, SectionKind

_QUESTION_NAMES = (
    "question questions q query faq frage fragen pregunta preguntas domanda вопрос вопросы 问题 问 提问 问句 "
    "标准问 标准问题 常见问题 用户问题 問題 問 質問"
)
QUESTION_NAMES = frozenset(_QUESTION_NAMES.split())
_ANSWER_NAMES = (
    "answer answers a ans reply response solution antwort antworten respuesta respuestas réponse risposta ответ ответы "
    "答案 答 回答 解答 答复 回复 标准答案 标准回答 回答内容 解决方案 答え"
)
ANSWER_NAMES = frozenset(_ANSWER_NAMES.split())


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all sections, in order; ``following`` is the section after them, if there is one."""
    return [
        piece
        for section, after in zip(sections, [*sections, following][1:], strict=True)
        for piece in _section_pieces(section, options, tokenizer) or naive.chunk([section], options, tokenizer, after)
    ]


def _section_pieces(section: Section, options: ChunkOptions, tokenizer: Tokenizer) -> list[Piece]:
    """Return the pieces of a section with pairs; [] for one without."""
    if section.kind is SectionKind.TEXT:
        return list(_text_pieces(section, options, tokenizer))
    grid = read_grid(section)
    asked = _Asked.of(grid) if grid else None
    if asked:
        asked = replace(asked, grid=replace(asked.grid, section=_without_question(asked.grid.section)))
    return list(_table_pieces(asked, options, tokenizer)) if asked else []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A table of pairs: the column of the questions, those of the answers, and the rows."""

    grid: Grid
    question: int
    answers: tuple[int, ...]

    @classmethod
    def of(cls, grid: Grid) -> "_Asked | None":
        """Return the table as one of pairs; None when no column asks."""
        names = [name.casefold().strip("*_ :：") for name in grid.header.cells]
        asks = [column for column, name in enumerate(names) if name in QUESTION_NAMES]
        answers = tuple(column for column, name in enumerate(names) if name in ANSWER_NAMES)
        if asks or (answers and grid.width == 2):
            question = asks[0] if asks else 1 - answers[0]
            others = tuple(column for column in range(grid.width) if column != question)
            return cls(grid=grid, question=question, answers=answers or others)
        path = grid.section.heading_path
        if grid.width != 2 or (path and is_question(path[-1])):
            return None  # under a question, a table is a part of the answer
        headless = is_question(grid.header.cell(0)) and bool(grid.header.cell(1))
        return cls(grid=grid.without_names() if headless else grid, question=0, answers=(1,))

    @property
    def is_asked_first(self) -> bool:
        """Whether the question stands before the answers in its row."""
        return self.question < self.answers[0]

    def groups(self) -> list[tuple[str, list[Row]]]:
        """Return the rows in groups: a question with the rows that answer it, or "" with rows that are no pair."""
        groups: list[tuple[str, list[Row]]] = []
        for row in self.grid.rows:
            question = plain_question(row.cell(self.question))
            is_answer = any(map(row.cell, self.answers))
            if question and is_answer:
                blank = bool(groups) and all(one.is_blank for one in groups[-1][1])
                groups.append((question, [*(groups.pop()[1] if blank else ()), row]))
            elif groups and (not question or not groups[-1][0]):
                groups[-1][1].append(row)
            else:
                groups.append(("", [row]))
        return groups


def _table_pieces(asked: _Asked, options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    groups = asked.groups()
    if not any(question for question, _ in groups):
        return
    cutter = RowCutter(asked.grid, options, tokenizer)
    for question, rows in groups:
        lead = cell_start(asked.grid.section, rows[0], asked.answers[0]) if question and asked.is_asked_first else 0
        yield from _asking(question, cutter.cut(rows, lead), options, tokenizer)


def _text_pieces(section: Section, options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    heading = section.heading_path[-1] if section.heading_path else ""
    places = Places(section)
    for pair in find_pairs(section.text, heading):
        part = places.part(pair.start, pair.end)
        part = _without_question(part) if pair.is_apart else part
        if pair.question:
            pieces = _pair_pieces(part, pair.answer - pair.start, options, tokenizer)
        else:
            pieces = naive.chunk([part], options, tokenizer, None)
        yield from _asking(pair.question, pieces, options, tokenizer)


def _without_question(section: Section) -> Section:
    """Return a section that asks by itself without the other question above it."""
    path = section.heading_path
    return replace(section, heading_path=path[:-1]) if path and has_question_mark(path[-1]) else section


def _pair_pieces(part: Section, answer: int, options: ChunkOptions, tokenizer: Tokenizer) -> list[Piece]:
    """Cut a pair whose answer begins at an offset; each part repeats the question, where that leaves half the room."""
    count = tokenizer.count(part.text)
    if count <= options.chunk_tokens:
        return [
            Piece(
                text=part.text,
                kind=part.kind,
                heading_path=part.heading_path,
                location=part.location,
                token_count=count,
            )
        ]
    question = part.text[:answer]
    own = options.chunk_tokens - tokenizer.count(question)
    if own < max(MIN_CHUNK_TOKENS, options.chunk_tokens // 2):
        return naive.chunk([part], options, tokenizer, None)
    places = Places(part)
    rest = places.part(answer, len(part.text))
    while own >= MIN_CHUNK_TOKENS:
        tail = naive.chunk([rest], replace(options, chunk_tokens=own), tokenizer, None)
        counts = [tokenizer.count(question + piece.text) for piece in tail]
        if max(counts) <= options.chunk_tokens:
            return [
                replace(
                    piece,
                    text=question + piece.text,
                    token_count=count,
                    overlap=piece.overlap + (len(question) if index else 0),
                    location=piece.location if index else _from(places.within(0, answer), piece),
                )
                for index, (piece, count) in enumerate(zip(tail, counts, strict=True))
            ]
        own -= 1  # question and answer may count a token more together than apart
    return naive.chunk([part], options, tokenizer, None)


def _from(question: Location, piece: Piece) -> Location:
    """Return the place of the first part of a pair: from its question on."""
    return replace(
        piece.location,
        page=question.page,
        first_row=question.first_row,
        first_line=question.first_line,
        boxes=few([*question.boxes, *piece.location.boxes]),
    )


def _asking(question: str, pieces: Sequence[Piece], options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    """Say what is embedded of the pieces of one pair: of a question over the budget no more than its beginning."""
    if options.qa_embed == "both":
        yield from pieces
        return
    asked = tokenizer.head(question, options.chunk_tokens)
    is_short = tokenizer.count(asked) <= options.chunk_tokens // 2
    for index, piece in enumerate(pieces):
        if not asked or (index and not is_short):
            yield piece
        else:
            own = piece.text[piece.overlap :].strip() if index else ""
            yield replace(piece, embedded=f"{asked}\n{own}" if own else asked)
