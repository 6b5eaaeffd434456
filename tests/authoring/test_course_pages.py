"""The glossary and the list of references: what is collected from text cells, and the pages that are made of it."""

from __future__ import annotations

import pytest
from small_course import SLUG, change, make_course

from anatomy.authoring import glossary, references
from anatomy.authoring.build import stale
from anatomy.authoring.course_pages import stale_pages, write_pages
from anatomy.authoring.glossary import terms_of
from anatomy.authoring.prose import blocks, sentences, text_cells
from anatomy.authoring.references import cited, sources_of
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import BadNotebook, source_file

BOOK = COURSE.notebook(SLUG)
PAPERS = """## Sources

- Vaswani et al. 2017, *Attention Is All You Need*, NeurIPS, arXiv:1706.03762: §3.2 (scores), Table 3.
- Tjong Kim Sang and De Meulder 2003, *Introduction: Named Entities*, CoNLL.
- D. Old et al., *Another Form*, 2015.
- PyTorch documentation: `torch.Tensor.view`."""


def terms(text: str) -> dict[str, str]:
    return {term.name: term.explanation for term in terms_of(BOOK, [("one", text)])}


@pytest.mark.parametrize(
    ("text", "name", "explanation"),
    [
        ("First. A <dfn>key</dfn> is found\nby a query. Last.", "key", "A key is found by a query."),
        ("Each **<dfn title=\"attention head\">head</dfn>** looks.", "attention head", "Each **head** looks."),
        ("**<dfn>Dropout</dfn>** (Hinton et al. 2014) drops.", "dropout", "**Dropout** (Hinton et al. 2014) drops."),
        ("<dfn>GELU</dfn> is smooth.", "GELU", "GELU is smooth."),
        ("Before it stands <dfn>`[CLS]`</dfn>, no word.", "[CLS]", "Before it stands `[CLS]`, no word."),
        ("So a <dfn>key</dfn> is found:", "key", "A key is found."),
        ("Out. (An <dfn>LSTM</dfn> has gates. It learns them.) In.", "LSTM", "An LSTM has gates."),
        ("Out. (An <dfn>LSTM</dfn> has gates.) In.", "LSTM", "An LSTM has gates."),
        ("1. One.\n2. Its <dfn>loss</dfn> is\n   small.\n3. Three.", "loss", "Its loss is small."),
        ("A <dfn>mean</dfn> of $x. Y$ and `a. B` is one. Two.", "mean", "A mean of $x. Y$ and `a. B` is one."),
        ("Its <dfn>norm</dfn> is\n\n$$ a. B $$\n\nso is. No.", "norm", "Its norm is\n\n$$ a. B $$\n\nso is."),
        ("Its <dfn>norm</dfn> is:\n$$ a\n= b .$$\nOther.", "norm", "Its norm is:\n\n$$ a\n= b .$$"),
        ("A <dfn>norm</dfn> is it.\n\n$$ a $$", "norm", "A norm is it."),
        ("<details><summary>Hint 1: no</summary>Yes. A <dfn>row</dfn> is it.</details>", "row", "A row is it."),
        ("| role | is | |\n|---|---|---|\n| **<dfn>Key</dfn>** | found | soon |", "key", "Is: found; soon."),
        ("**<dfn>BPE</dfn>** (an (odd) one) merges.", "BPE", "**BPE** (an (odd) one) merges."),
    ],
)  # fmt: skip
def test_a_term_comes_with_its_sentence(text, name, explanation):
    assert terms(text) == {name: explanation}


def test_a_term_knows_its_section_and_an_exercise_is_none():
    cells = [
        ("one", "# 02 · All\n\nText."),
        ("two", "## 1 · Two *flies*\n\n### Exercise 2.1 · `x`\n\nA <dfn>key</dfn> is."),
    ]
    (term,) = terms_of(BOOK, cells)
    assert (term.cell, term.section) == ("two", "1 · Two flies")


def test_code_is_no_text():
    assert terms("```\nA <dfn>key</dfn> is.\n```") == {}


def test_sentences_are_cut_where_they_end():
    found = [
        "One (Luong et al. 2015).",
        "Two, e.g. This.",
        "“Three?”",
        "*Four!*",
        "5 is odd, §3.1.",
        '[Six](a "A. B") is it.',
    ]
    assert list(sentences(" ".join(found))) == found


def test_a_table_has_heads_and_the_next_one_its_own():
    tables = "| a | b |\n|---|---|\n| 1 | 2 |", "| | |\n|:--|--:|\n| 3 | 4 |", "| c | d |\n|---|---|\n| 5 | 6 |"
    text = "\n\n".join(["One.", *tables, "Two."])
    assert [(block.text, block.heads) for block in blocks([("one", text)])] == [
        ("One.", ()),
        ("| 1 | 2 |", ("a", "b")),
        ("| 3 | 4 |", ("", "")),
        ("| 5 | 6 |", ("c", "d")),
        ("Two.", ()),
    ]


def test_the_glossary_is_alphabetical_and_links_to_sections():
    text = "## 1 · Why?\n\nA <dfn>query</dfn> asks ([01](../01-x/01-x.ipynb)). First <dfn>`[CLS]`</dfn> comes."
    page = glossary.as_markdown(terms_of(BOOK, [("one", text)]), "../notebooks")
    assert page.index("## C") < page.index("**[CLS]** · First") < page.index("## Q") < page.index("**query** · A query")
    assert f"[02 · 1 · Why?](../notebooks/{SLUG}/{SLUG}.ipynb#cell-id=one)" in page
    assert "([01](../notebooks/01-x/01-x.ipynb))" in page


def test_sources_are_read_and_other_forms_are_returned():
    found, other = sources_of(BOOK, [("end", "Text.\n\n" + PAPERS)])
    assert [source.key for source in found] == [("Vaswani", "2017"), ("Sang", "2003")]
    assert found[0].words == "Vaswani et al. 2017, *Attention Is All You Need*, NeurIPS, arXiv:1706.03762"
    assert [source.places for source in found] == ["§3.2 (scores), Table 3", ""]
    assert [block.text[:6] for block in other] == ["D. Old"]


def test_what_is_cited_is_found_in_every_way_of_writing_it():
    text = (
        """As Vaswani et al. (2017, §3) say; Ba, Kiros and Hinton 2016; the name is Bridle's, 1990 (Gage 1994;
    Tjong Kim Sang and De Meulder 2003). In 2017 the Transformer, GPT-2 of 2019, 2,048 tokens.\n\n"""
        + PAPERS
    )
    names = ["Vaswani 2017", "Ba 2016", "Bridle 1990", "Gage 1994", "Sang 2003"]
    assert [" ".join(paper) for _, paper in cited([("one", text)])] == names


def test_the_list_has_every_paper_once():
    books = BOOK, COURSE.notebook("03-softmax")
    both = [source for book in books for source in sources_of(book, [("end", PAPERS)])[0]]
    page = references.as_markdown(both, "..")
    assert page.count("Attention Is All You Need") == 1
    line = next(line for line in page.splitlines() if "Attention" in line)
    assert (
        f"In [02](../{SLUG}/{SLUG}.ipynb): §3.2 (scores), Table 3; [03](../03-softmax/03-softmax.ipynb): §3.2" in line
    )


def test_pages_are_written_where_students_and_readers_find_them(tmp_path):
    root = make_course(tmp_path)
    assert stale_pages(root) == []  # no term, no source: no page
    change(source_file(root, SLUG), "title", "# Scores\n\nA <dfn>score</dfn> is a number.\n\n" + PAPERS)
    places = ("assets", "notebooks/00-start-here", "solutions/00-start-here")
    files = [f"{place}/{name}" for place in places for name in ("glossary.md", "references.md")]
    assert stale_pages(root) == [f"{file} is missing." for file in files]
    assert set(stale_pages(root)) < set(stale(root)) and not set(stale_pages(root)) & set(stale(root, [SLUG]))
    write_pages(root)
    assert stale_pages(root) == []
    before = (root / files[0]).stat().st_mtime_ns
    write_pages(root)
    assert (root / files[0]).stat().st_mtime_ns == before
    (root / files[0]).write_text("old", encoding="utf-8")
    assert stale_pages(root) == [f"{files[0]} is old."]


def test_a_file_that_is_no_notebook_is_named(tmp_path):
    (tmp_path / "x.ipynb").write_text("no", encoding="utf-8")
    with pytest.raises(BadNotebook, match=r"x\.ipynb"):
        text_cells(tmp_path / "x.ipynb")
