"""A notebook that wants whoever reads its pages to run something: in text, outputs, metadata, names and styles."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

ACT = "window.top.pwned=1;window.pwned=1;alert(1)"
PIECES = [
    f"<script>{ACT}</script>",
    f'<img src="x" onerror="{ACT}">',
    f'<svg onload="{ACT}"><script>{ACT}</script></svg>',
    f'<iframe srcdoc="<script>{ACT}</script>"></iframe>',
    f'<iframe src="javascript:{ACT}"></iframe>',
    f'<math><mtext><table><mglyph><style><img src=x onerror="{ACT}"></style></mglyph></table></mtext></math>',
    f'<noscript><p title="</noscript><img src=x onerror={ACT}>"></noscript>',
    f'<a id="lure" href="javascript:{ACT}">a link</a>',
    '<a href="evil.html">a file beside</a>',
    '<img src="https://example.org/who-reads-this.png"><img src="//example.org/x.png"><img src="../../../logout">',
    '<link rel="stylesheet" href="https://example.org/x.css"><style>body{display:none}</style>',
    '<form action="https://example.org"><input name="x"><button>More</button></form>',
    '<meta http-equiv="refresh" content="0;url=https://example.org"><base href="https://example.org/">',
    '<div class="navbar-fixed-top modal-backdrop" id="check-softmax" style="position:fixed;top:0;z-index:9;'
    'margin-top:-5000px;width:100vw;background:url(https://example.org/x)">COVER</div>',
    f'<details open ontoggle="{ACT}"><summary>more</summary></details>',
]
PAGE = "\n\n".join(PIECES)
TEXT = f"""# check-softmax

{PAGE}

[text](javascript:{ACT}) ![picture](https://example.org/y.png) <javascript:{ACT}>

```html
{PIECES[0]}
```
"""
ANSWER = f'''
def softmax(x, dim):
    return x / 2

from IPython.display import HTML, Javascript, Markdown, display
page = {PAGE!r}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
display(HTML(page)); display(Markdown(page)); display(Javascript({ACT!r}))
drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload='{ACT}'><script>{ACT}</script></svg>"
display({{"image/svg+xml": drawing}}, raw=True)
display({{"text/html": page}}, raw=True, metadata={{"text/html": {{"isolated": True}}}})
display({{"text/latex": page}}, raw=True)
for kind in ("image/png", "image/jpeg"):
    display({{kind: PIXEL}}, raw=True, metadata={{kind: {{"width": "1 onload={ACT} x=", "height": "1 onerror={ACT}"}}}})
    display({{kind: PIXEL}}, raw=True, metadata={{"width": "1 onload={ACT}", "alt": "x onload={ACT}"}})
    display({{kind: PIXEL}}, raw=True, metadata={{"filenames": {{kind: "https://example.org/z.png"}}}})
    display({{kind: PIXEL + '" onload="{ACT}'}}, raw=True)
display({{"text/vnd.mermaid": page}}, raw=True)
print(page)
raise ValueError(page)
'''


def made_hostile(book: NotebookNode) -> NotebookNode:
    """The notebook, with such an answer to `softmax`, such text, a raw cell's worth of it, and such tags."""
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax":
            cell.source = ANSWER
    text = new_markdown_cell(TEXT, id="hostile-text", metadata={"tags": [f'"><img src=x onerror="{ACT}">']})
    text["attachments"] = {"x.png": {f'image/png" onerror="{ACT}': "AAAA", "text/html": PAGE}}
    raw = NotebookNode(cell_type="raw", id="raw", source=PAGE, metadata={"raw_mimetype": "text/html", "format": "x"})
    book.cells += [text, raw, new_code_cell(f"# {PAGE}", id="hostile-code")]
    return book
