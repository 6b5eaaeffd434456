"""What becomes of the notebooks on their way into the website, and what is refused. No Sphinx is run here."""

from __future__ import annotations

import importlib.util
import re
import sys
from html import escape
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from anatomy.authoring import course_pages, front_page
from anatomy.authoring import site as sites
from anatomy.authoring.launch_links import Fork
from anatomy.authoring.linked_map import linked_map
from anatomy.authoring.site_links import look_through
from anatomy.authoring.site_reading import for_readers
from anatomy.course import COURSE
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import (
    is_answer,
    read,
    solved_file,
    student_file,
    was_edited,
    write,
)

SLUGS = [book.slug for book in COURSE.notebooks]
EXPLORED = ["13-family-tree", "09-causal-mask", "10-encoder-decoder", "14-since-gpt-2"]


@pytest.fixture(scope="module")
def pages(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Sphinx is given."""
    folder = tmp_path_factory.mktemp("pages")
    sites.gather(root, folder)
    return folder


@pytest.fixture(scope="module")
def extensions(root: Path) -> dict[str, ModuleType]:
    """The site's own Sphinx extensions, by name."""
    found = {}
    for file in sorted((root / "docs/site/extensions").glob("*.py"), key=lambda path: path.stem != "mathml"):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec and spec.loader
        found[file.stem] = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found[file.stem])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
def test_solutions_are_folded_and_nothing_else_is(pages: Path, slug: str) -> None:
    for cell in read(student_file(pages, slug)).cells:
        assert ("hide-input" in cell.metadata.get("tags", [])) == is_answer(cell)


def test_the_title_of_an_exercise_is_its_name(pages: Path) -> None:
    text = "\n".join(cell.source for cell in read(student_file(pages, "03-softmax")).cells)
    assert "### Exercise 3.1 · `softmax`\n\n●●●○○ · about 12 minutes · 7 points\n" in text
    assert not [line for line in text.splitlines() if line.startswith("### Exercise") and "●" in line]


def test_a_picture_s_links_lead_to_cells_of_the_page(pages: Path) -> None:
    notebook = read(student_file(pages, "14-since-gpt-2"))
    shown = "\n".join(
        output.data.get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "data" in output
    )
    found = re.findall(r'href="\.\./14-since-gpt-2/14-since-gpt-2\.html#([\w-]+)"', shown)
    labels = {f"({place})=" for place in found}
    assert "cell-14-exercise-rms" in found and ".ipynb#cell-id" not in shown
    assert labels <= {cell.source.partition("\n")[0] for cell in notebook.cells}


def test_both_editions_are_there_to_download(pages: Path) -> None:
    for slug in SLUGS:
        for edition in ("to-work-in", "solved"):
            assert read(pages / "downloads" / edition / f"{slug}.ipynb").cells[0].source.startswith("# ")
    student, solved = (
        (pages / "downloads" / edition / "03-softmax.ipynb").read_text(encoding="utf-8")
        for edition in ("to-work-in", "solved")
    )
    assert "exponentials / exponentials.sum" in solved and "exponentials / exponentials.sum" not in student


def test_answers_in_the_authors_notebooks_are_not_published(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is offered to work in comes from source/: nothing of notebooks/ is read."""
    for folder in ("source", "solutions"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / SLUGS[0]).symlink_to(root / folder / SLUGS[0])
    for name in ("docs", "README.md", "nbgrader_config.py"):
        (tmp_path / name).symlink_to(root / name)
    mine = read(student_file(root, SLUGS[0]))
    mine.cells[-1].source = "my own words"
    write(mine, student_file(tmp_path, SLUGS[0]))
    sites.gather(tmp_path, tmp_path / "pages")
    offered = read(tmp_path / "pages/downloads/to-work-in" / f"{SLUGS[0]}.ipynb")
    assert offered.cells[-1].source != "my own words" and not was_edited(offered)


def test_a_solved_edition_that_is_older_than_its_source_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "chosen", lambda course, root: course.notebooks[:2])
    monkeypatch.setattr(sites, "solved_edition", lambda root, slug: read(solved_file(root, SLUGS[0])))
    assert sites.gather(root, tmp_path) == [SLUGS[1]]
    assert "Run `.venv/bin/anatomy build 07 12`" in sites._how_complete(["07-encoder", "12-pretraining"])
    assert sites._how_complete([]).startswith("The site is complete: ")


def test_links_to_cells_and_to_the_readme_lead_to_what_the_site_has(pages: Path) -> None:
    mask = read(student_file(pages, "09-causal-mask"))
    assert "](#cell-02-scaled-scores-header)" in "\n".join(cell.source for cell in mask.cells)
    assert "#cell-id=" not in (pages / "assets/glossary.md").read_text(encoding="utf-8")
    rows = next(cell for cell in read(student_file(pages, "03-softmax")).cells if cell.get("id") == "rows")
    assert rows.source.startswith("(cell-03-rows)=\n\n## 3")
    assert (pages / "LICENSE").is_file() and (pages / "docs/architecture.svg").is_file()


def test_each_term_has_an_address_and_leads_to_the_sentence_that_explains_it(pages: Path, root: Path) -> None:
    glossary = (pages / "assets/glossary.md").read_text(encoding="utf-8")
    addresses = re.findall(r"^\((term-[\w-]+)\)=\n\n\*\*", glossary, re.M)
    assert "term-attention-rollout" in addresses and "term-cls" in addresses
    assert len(set(addresses)) == len(addresses) == len(course_pages.terms(root))
    links = re.findall(r'<a href="\.\./(notebooks/[^"]+)\.html#([^"]+)">\d\d&nbsp;· ', glossary)
    assert [address for _, address in links] == addresses
    for page, address in links:
        assert f'<dfn id=\\"{address}\\">' in (pages / f"{page}.ipynb").read_text(encoding="utf-8")


def test_in_words_the_map_leads_to_every_notebook(root: Path) -> None:
    text = (root / "assets/map.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\[\*\*\d\d [^]]+\*\*\]\(\.\./notebooks/([\w-]+)/", text)) == set(SLUGS)
    assert not re.search(r"(?<!\[)\*\*\d\d ", text)


def test_a_page_asks_for_nothing_that_only_jupyterlab_can_do(pages: Path) -> None:
    """The reader's own progress is left out, the text about it and about keys and menus is folded."""
    for slug in SLUGS:
        cells = read(student_file(pages, slug)).cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        shown = re.sub(r"<details.*?</details>", "", text, flags=re.S)
        assert not re.search(r"^(progress|hunt|machine_card)\(", code, re.M)
        assert not re.search(r"Shift\+Enter\*|Ctrl\+|[Bb]efore you run|[Ii]n a terminal|\*Kernel →", shown), slug
        assert len(re.findall("<details[ >]", text)) == text.count("</details>")


def test_what_the_reader_shall_guess_is_folded_and_nothing_else_is() -> None:
    cells = [
        new_markdown_cell("## Look\n\n**Before you run the next cell:** which?\n\nPress Ctrl+S.\n\n- a\n- Ctrl+Z\n- c"),
        new_code_cell("x = 1"),
        new_code_cell("x", outputs=[new_output("stream", text="1")]),
        new_code_cell("x", outputs=[new_output("stream", text="1")]),
        new_markdown_cell("## Yours\n\nYour progress:"),
        new_code_cell("progress()"),
        new_markdown_cell("The card.\n\n## Next"),
    ]
    book = new_notebook(cells=cells)
    for_readers(book)
    hidden = ["hide-output"]
    assert [cell.metadata.get("tags") for cell in book.cells] == [None, None, hidden, hidden, None, None]
    fold = '<details class="jupyterlab"><summary>In JupyterLab{}</summary>\n\n{}\n\n</details>'
    look, yours, after = (cell.source for cell in book.cells if cell.cell_type == "markdown")
    keys = fold.format(": Press Ctrl+S.", "Press Ctrl+S.")
    assert look == f"## Look\n\n**Before you look:** which?\n\n{keys}\n\n- a\n- Ctrl+Z\n- c"
    assert (yours, after) == (fold.format(": Yours", "Your progress:\n\nThe card."), "## Next")


def test_no_heading_stands_over_a_fold_alone(pages: Path) -> None:
    cells = read(student_file(pages, "00-start-here")).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    titles = re.findall("<summary>In JupyterLab: ([^<]*)</summary>", text)
    assert "What your machine has" in titles and "10 · Where everything is" in titles
    folded = new_markdown_cell("## Open\n\n### Keys\n\nPress Ctrl+S.\n\n## Code\n\nPress Ctrl+Z.")
    book = new_notebook(cells=[folded, new_code_cell("x")])
    for_readers(book)
    assert re.findall(r"^#+ .*", book.cells[0].source, re.M) == ["## Code"]


def test_a_question_that_ends_a_text_asks_for_a_guess_and_one_that_is_answered_does_not(pages: Path) -> None:
    def is_folded(slug: str, cell: str) -> bool:
        cells = read(student_file(pages, slug)).cells
        return "hide-output" in next(one for one in cells if one.id == cell).metadata.get("tags", [])

    assert all(is_folded("02-attention-scores", cell) for cell in ("two-sentences", "funnel", "trained"))
    assert is_folded("05-encoder-layer", "norms") and not is_folded("09-causal-mask", "explore")


def test_code_has_no_comments_for_tools(pages: Path) -> None:
    code = [cell.source for slug in SLUGS for cell in read(student_file(pages, slug)).cells if cell.cell_type == "code"]
    assert not [text for text in code if "# fmt:" in text or "Colab" in text]


@pytest.mark.parametrize("slug", SLUGS)
def test_glossary_and_references_are_linked_where_the_site_has_them(pages: Path, slug: str) -> None:
    text = "\n".join(cell.source for cell in read(student_file(pages, slug)).cells if cell.cell_type == "markdown")
    assert set(re.findall(r"\]\(([^)]*(?:glossary|references)\.md)", text)) <= {
        "../../assets/glossary.md",
        "../../assets/references.md",
    }


def test_the_map_has_a_link_for_each_notebook() -> None:
    drawing = linked_map("notebooks")
    assert all(f'href="notebooks/{slug}/{slug}.html"' in drawing for slug in SLUGS)
    assert 'role="img"' not in drawing


def test_the_front_page_is_no_notebook_so_its_map_says_of_none_that_you_are_there(pages: Path) -> None:
    front = (pages / "index.md").read_text(encoding="utf-8")
    assert 'class="course-map"' in front and "you are" not in front.lower()
    assert front.count("in words") == 1 and "map.html" not in (pages / "assets/map.md").read_text(encoding="utf-8")


def test_each_notebook_begins_with_its_map_with_links_and_its_part_lit(pages: Path) -> None:
    for slug in SLUGS:
        text = "\n".join(cell.source for cell in read(student_file(pages, slug)).cells[:3])
        assert f'href="../{SLUGS[1]}/{SLUGS[1]}.html"' in text and "](map.svg)" not in text
        assert "you are here" in text
    assert 'class="course-map"' in (pages / "assets/map.md").read_text(encoding="utf-8")


def test_the_front_page_has_a_card_of_today_and_the_notebooks_by_title(pages: Path, root: Path) -> None:
    front = (pages / "index.md").read_text(encoding="utf-8")
    assert front_page.ANSWER in front
    assert "Your softmax runs over the queries: each key" in front and "1 of 5 points." in front
    assert all(f"| [](notebooks/{slug}/{slug}.ipynb) |" in front for slug in SLUGS)
    exercises = sum(len(COURSE.exercises(book)) for book in COURSE.notebooks)
    assert f"{len(SLUGS)} notebooks · {exercises} exercises · about " in front
    assert "<!--" not in front


def test_a_readme_without_the_table_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Nothing\n")
    with pytest.raises(UserError, match=r"README\.md has no section “The notebooks”"):
        front_page.notebooks(tmp_path)


def rows(text: str) -> list[list[str]]:
    """The addresses in each row of buttons of a page."""
    return [re.findall('href="([^"]*)"', row) for row in re.findall(r'<p class="run-this">.*?</p>', text, re.S)]


def test_a_notebook_says_where_to_work_on_it(pages: Path, root: Path, tmp_path: Path) -> None:
    title = read(student_file(pages, "03-softmax")).cells[0].source
    here = ["../../docs/install.html", "../../to-work-in/03-softmax.ipynb", "../../solved/03-softmax.ipynb"]
    assert rows(title) == [here]
    assert re.findall(r'href="([^"]*)" download>', title) == here[1:]
    book = COURSE.notebook("03-softmax")
    binder, colab, install = sites._ways_to_run(book, Fork("your-name/anatomy"), "")
    assert binder.startswith("https://mybinder.org/v2/gh/your-name/anatomy/main?urlpath=lab%2Ftree%2Fnotebooks%2F03")
    assert colab.startswith("https://colab.research.google.com/github/your-name/anatomy/blob/main/notebooks/03-softmax")
    assert install == "docs/install.html"


def test_a_notebook_that_is_mentioned_is_a_link(pages: Path) -> None:
    """In text, not in code, formulas, other links and HTML; and no notebook leads to itself."""
    third, to_second = COURSE.find("03"), "(../02-attention-scores/02-attention-scores.ipynb)"
    page = read(student_file(pages, third.slug))
    text = "\n\n".join(cell.source for cell in page.cells if cell.cell_type == "markdown")
    assert f"[notebook 02]{to_second}" in text and f"({third.slug}/{third.slug}.ipynb" not in text
    other = "`notebook 02` [in notebook 02](x.md) $notebook 02$ notebooks\n\n<b>notebook 02</b>"
    assert sites._with_links(other, third) == other
    several = "notebooks 02 (in 12 lines), 03 and 07 (of 90)"
    linked = re.sub(r"\[(\d\d)\]\([^)]*\)", r"[\1]", sites._with_links(several, third))
    assert linked == "notebooks [02] (in 12 lines), 03 and [07] (of 90)"


def test_a_paper_s_number_is_a_link(pages: Path) -> None:
    cells = read(student_file(pages, "10-encoder-decoder")).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert "[arXiv:1706.03762](https://arxiv.org/abs/1706.03762)" in text and not re.search(r"(?<!\[)arXiv:\d", text)


def test_recorded_runs_stand_on_a_page_of_their_own(pages: Path) -> None:
    """They are the solved notebooks', nobody is asked to compute, and links lead to pages."""
    page, front = ((pages / name).read_text(encoding="utf-8") for name in ("explore.md", "index.md"))
    links = re.findall(r'<a href="(explore/[^"]+)" target="explorer" id="[\w-]+">', page)
    assert [link.removeprefix("explore/").removesuffix(".html") for link in links] == EXPLORED
    assert f'<iframe class="explorer" name="explorer" title="The explorer" src="{links[0]}">' in page
    assert "](explore.md)" in front and "<!--" not in page
    for link in links:
        run = (pages / "downloads" / link).read_text(encoding="utf-8")
        assert "un the cell" not in run and "Your code" not in run
        assert run.startswith("<!doctype html>") and run.count('<script type="text/plain" class="state">') >= 2
        assert 'data-host="none" data-notebooks="../notebooks/*/*.html">' in run and "</html>" in run[-20:]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_notebook_with_runs_leads_to_them_and_its_explorer_to_pages(pages: Path, slug: str) -> None:
    book = read(student_file(pages, slug))
    shown = [output.data.get("text/html", "") for cell in book.cells for output in cell.get("outputs", ())
             if "data" in output]  # fmt: skip
    frames = [html for html in shown if 'class="anatomy-explorer"' in html]
    to_runs = [link for link in rows(book.cells[0].source)[0] if link.startswith("../../explore.html#")]
    assert len(frames) == len(to_runs) == (slug in EXPLORED)
    assert all(escape('data-notebooks="../*/*.html"') in html for html in frames)
    assert not any("un the cell" in html for html in frames), "there is none to run"


def test_what_to_clone_is_the_fork_s_address(root: Path, tmp_path: Path) -> None:
    sites.gather(root, tmp_path, Fork("your-name/anatomy"))
    guides = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "docs").glob("*.md")}
    clone = "git clone https://github.com/your-name/anatomy transformer-anatomy && cd transformer-anatomy\nmake lab"
    assert sites.WHERE_FROM not in guides["install"]
    assert clone in guides["install"] and not [name for name, text in guides.items() if sites.ADDRESS in text]


def test_sphinx_names_no_folder_that_is_gone_in_the_end(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("conf", root / "docs/site/conf.py")
    assert spec and spec.loader
    settings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(settings)
    app = SimpleNamespace(builder=SimpleNamespace(epilog="The HTML pages are in %(outdir)s."))
    settings.say_no_folder(app)
    assert app.builder.epilog == ""


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_no_site_is_not_replaced(root: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match="is no site: name another folder with --to"):
        sites.build(root, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_a_wrong_repository_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["site", "--repository", "https://example.org"])
    with pytest.raises(SystemExit) as ended:
        sites.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("'https://example.org' is not a GitHub repository: say OWNER/REPO")


# ---- links ----------------------------------------------------------------------------------------------------------


def test_links_are_followed_to_the_anchor_and_foreign_ones_are_listed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="sub/a.html#here">1</a><a href="sub/a.html#gone">2</a><a href="missing.html">3</a><a href="#top">4</a>'
        '<a href="../outside.txt">5</a><img src="data:,x"><a href="https://example.org/x">6</a>'
        '<img src="//cdn.example/y">'
    )
    (tmp_path / "sub/a.html").write_text('<p id="here"><a href="..">up</a><a href="a%20b.txt#x">file</a></p>')
    (tmp_path / "sub/a b.txt").write_text("")
    (tmp_path.parent / "outside.txt").write_text("")
    report = look_through(tmp_path)
    assert (report.pages, report.internal) == (2, 7)
    assert report.broken == [
        "index.html → sub/a.html#gone: that page has no such place",
        "index.html → missing.html: no such file",
        "index.html → ../outside.txt: no such file",
    ]
    assert report.external == ["//cdn.example/y", "https://example.org/x"]


# ---- Sphinx extensions ----------------------------------------------------------------------------------------------


def test_a_page_says_of_itself_what_other_sites_show(extensions: dict[str, ModuleType]) -> None:
    app = SimpleNamespace(config=SimpleNamespace(project="Course", html_baseurl=""))
    page = nodes.section("", nodes.paragraph("", 'One "sentence" & more.'))
    context = {"title": "Heads", "pageurl": "https://example.org/c/heads.html", "metatags": ""}
    extensions["sharing"].describe(app, "heads", "page.html", context, page)
    assert '<meta property="og:description" content="One &quot;sentence&quot; &amp; more.">' in context["metatags"]
    assert "og:image" not in context["metatags"]  # which needs a whole address
    app.config.html_baseurl = "https://example.org/c/"
    extensions["sharing"].describe(app, "heads", "page.html", context, page)
    assert 'content="https://example.org/c/_static/social-card.png"' in context["metatags"]


def test_formulas_become_mathml_and_one_that_cannot_is_a_warning(
    extensions: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    module = extensions["mathml"]
    monkeypatch.setattr(module.logger, "warning", lambda text, *values, location: warned.append(text % values))
    assert "<mfrac>" in module.mathml(r"\Big(\frac{1}{2}, \dots\Big)") and warned == []
    assert module.mathml(r"\nosuchcommand <b>") == "<code>\\nosuchcommand &lt;b&gt;</code>"
    assert warned == [r"""formula '\\nosuchcommand <b>': Unknown LaTeX command "\nosuchcommand"."""]


def test_a_line_of_code_knows_its_indent(extensions: dict[str, ModuleType]) -> None:
    line = extensions["tables"].line_of_code
    assert line('<span class="w">    </span><span class="k">return</span> 1') == (
        '<span class="line" style="--indent:4"><span class="w">    </span><span class="k">return</span> 1</span>'
    )
    assert line("x = 1\n") == '<span class="line">x = 1\n</span>'
    name, dot, attribute = '<span class="n">x</span>', '<span class="o">.</span>', '<span class="n">T</span>'
    assert line(f"{name}{dot}{attribute}") == f'<span class="line">{name}<wbr>{dot}{attribute}</span>', "it may break"


def test_prices_in_a_hint_are_no_formulas(extensions: dict[str, ModuleType]) -> None:
    formula = extensions["html_in_text"].FORMULA
    assert formula.findall("<p>with $a = 1$ and $b$</p>") == ["a = 1", "b"]
    assert formula.findall("from $5 to $6, or US$7 and $8") == []
