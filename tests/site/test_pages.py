"""What Sphinx has made of the notebooks and guides, read as HTML. No browser is opened here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # whose tests make the site, too


@pytest.fixture(scope="module")
def texts(site: Path) -> dict[str, str]:
    """The site's pages by name."""
    return {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
            for path in site.rglob("*.html") if "_static" not in path.parts}  # fmt: skip


def test_every_table_is_a_table(texts: dict[str, str]) -> None:
    """Those that cells put out, too: 13's family is one of them."""
    assert [name for name, text in texts.items() if "<p>|" in text] == []
    family = texts["notebooks/13-family-tree/13-family-tree.html"]
    assert re.search(r'<td><p><a [^>]*href="https://arxiv.org/abs/1810.04805"[^>]*>BERT</a></p></td>', family)


def test_the_frame_of_a_page_says_nothing_twice(texts: dict[str, str]) -> None:
    front = texts["index.html"]
    assert "<title>Transformer Anatomy</title>" in front and "©" not in front
    assert "<title>Security &#8212; Transformer Anatomy</title>" in texts["docs/security.html"]
    menu = re.findall(r'<li class="toctree-l1"><a class="reference internal" href="[^"]*">([^<]*)</a>', front)
    assert "Security" in menu and len(menu) == len(set(menu))


def test_no_cell_without_words_is_a_heading(texts: dict[str, str]) -> None:
    assert [name for name, text in texts.items() if re.search(r"<th[^>]*>(<p>\s*</p>)?</th>", text)] == []


def test_the_page_that_run_it_leads_to_has_the_commands_before_all_else(texts: dict[str, str]) -> None:
    article = texts["docs/install.html"].partition("<article")[2]
    shown = re.sub(r"<[^>]+>", "", article.partition("<h2>")[0])
    clone = "git clone &lt;address of this repository&gt; transformer-anatomy &amp;&amp; cd transformer-anatomy"
    assert f"{clone}\nmake lab\n" in shown
    assert "You find it where you got this site from." in shown
