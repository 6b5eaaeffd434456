"""What becomes of the notebooks on their way into the website, and what is refused. No Sphinx is run here."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from anatomy.authoring import site as sites
from anatomy.authoring.linked_map import linked_map
from anatomy.authoring.site_links import look_through
from anatomy.course import COURSE
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import is_answer, read, student_file

SLUGS = [book.slug for book in COURSE.notebooks]


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


@pytest.mark.parametrize("slug", SLUGS)
def test_solutions_are_folded_and_nothing_else_is(pages: Path, slug: str) -> None:
    for cell in read(student_file(pages, slug)).cells:
        assert ("hide-input" in cell.metadata.get("tags", [])) == is_answer(cell)


def test_the_title_of_an_exercise_is_its_name(pages: Path) -> None:
    text = "\n".join(cell.source for cell in read(student_file(pages, "03-softmax")).cells)
    assert "### Exercise 3.1 · `softmax`\n\n●●●○○ · about 12 minutes · 7 points\n" in text
    assert not [line for line in text.splitlines() if line.startswith("### Exercise") and "●" in line]


def test_both_editions_are_there_to_download_as_they_are(pages: Path, root: Path) -> None:
    for folder, where in (("to-work-in", "notebooks"), ("solved", "solutions")):
        for slug in SLUGS:
            file = f"{slug}.ipynb"
            assert (pages / "downloads" / folder / file).read_bytes() == (root / where / slug / file).read_bytes()


def test_an_edition_with_somebodys_answers_is_not_published(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sites, "was_edited", lambda book: True)
    monkeypatch.setattr(sites, "chosen", lambda course, root: course.notebooks[:1])
    sites.gather(root, tmp_path)
    assert not (tmp_path / "downloads/to-work-in").exists() and (tmp_path / "downloads/solved").is_dir()
    assert "notebooks/00-start-here has answers of yours" in capsys.readouterr().out


def test_links_to_cells_and_to_the_readme_lead_to_what_the_site_has(pages: Path) -> None:
    glossary = (pages / "assets/glossary.md").read_text(encoding="utf-8")
    assert "](#cell-03-rows)" in glossary and "#cell-id=" not in glossary
    rows = next(cell for cell in read(student_file(pages, "03-softmax")).cells if cell.get("id") == "rows")
    assert rows.source.startswith("(cell-03-rows)=\n\n## 3")
    assert "](../index.md)" in (pages / "docs/install.md").read_text(encoding="utf-8")
    assert (pages / "LICENSE").is_file() and (pages / "docs/architecture.svg").is_file()


@pytest.mark.parametrize("slug", SLUGS)
def test_glossary_and_references_are_linked_where_the_site_has_them(pages: Path, slug: str) -> None:
    text = "\n".join(cell.source for cell in read(student_file(pages, slug)).cells if cell.cell_type == "markdown")
    assert set(re.findall(r"\]\(([^)]*(?:glossary|references)\.md)", text)) <= {
        "../../assets/glossary.md",
        "../../assets/references.md",
    }


def test_the_map_has_a_link_for_each_notebook() -> None:
    drawing = linked_map()
    assert all(f'href="notebooks/{slug}/{slug}.html"' in drawing for slug in SLUGS)
    assert 'role="img"' not in drawing.partition(">")[0]


def test_the_front_page_is_no_notebook_so_its_map_says_of_none_that_you_are_there(pages: Path) -> None:
    front = (pages / "index.md").read_text(encoding="utf-8")
    assert 'class="course-map"' in front and "you are" not in front.lower()


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


def buttons(extensions: dict[str, ModuleType], folder: Path, repository: str) -> dict[str, list[str]]:
    """Label of each group of buttons above notebook 03, with the addresses in it."""
    app = SimpleNamespace(srcdir=folder, config=SimpleNamespace(course_repository=repository, course_branch="main"))
    context = {"header_buttons": [], "pathto": lambda name, _: f"../../{name}"}
    extensions["course_header"].add_buttons(app, "notebooks/03-softmax/03-softmax", "page.html", context, None)
    return {group["label"]: [button["url"] for button in group["buttons"]] for group in context["header_buttons"]}


def test_buttons_that_open_the_course_elsewhere_need_a_repository(
    extensions: dict[str, ModuleType], pages: Path
) -> None:
    downloads = {"download-buttons": ["../../to-work-in/03-softmax.ipynb", "../../solved/03-softmax.ipynb"]}
    assert buttons(extensions, pages, "") == downloads
    with_repository = buttons(extensions, pages, "your-name/anatomy")
    binder, colab = with_repository.pop("launch-buttons")
    assert with_repository == downloads
    assert binder.startswith("https://mybinder.org/v2/gh/your-name/anatomy/main?urlpath=lab%2Ftree%2Fnotebooks%2F03")
    assert colab.startswith(
        "https://colab.research.google.com/github/your-name/anatomy/blob/main/notebooks/03-softmax/"
    )


def test_formulas_become_mathml_and_one_that_cannot_is_a_warning(
    extensions: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    module = extensions["mathml"]
    monkeypatch.setattr(module.logger, "warning", lambda text, *values, location: warned.append(text % values))
    assert "<mfrac>" in module.mathml(r"\Big(\frac{1}{2}, \dots\Big)") and warned == []
    assert module.mathml(r"\nosuchcommand <b>") == "<code>\\nosuchcommand &lt;b&gt;</code>"
    assert warned == [r"""formula '\\nosuchcommand <b>': Unknown LaTeX command "\nosuchcommand"."""]


def test_prices_in_a_hint_are_no_formulas(extensions: dict[str, ModuleType]) -> None:
    formula = extensions["html_in_text"].FORMULA
    assert formula.findall("<p>with $a = 1$ and $b$</p>") == ["a = 1", "b"]
    assert formula.findall("from $5 to $6, or US$7 and $8") == []
