"""The map of the course as a part of a web page: each block is a link to its notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from anatomy.course.maps import SVG, light
from anatomy.wiring import the_course


def linked_map(notebooks: str, here: str | None = None) -> str:
    """The map as a block of a page in MyST Markdown.

    Parameters
    ----------
    notebooks
        The way from where the page lies to the folder of the notebooks.
    here
        The notebook whose part is lit, such as ``03-softmax``. Its page leads to the map in words.
    """
    drawing = ET.fromstring(light(here))
    drawing.attrib |= {"role": "group", "class": "course-map"}  # as an "img", screen readers would skip what is in it
    style = drawing.find(f"{{{SVG}}}style")
    assert style is not None
    style.text = f".course-map {{{style.text}}}"  # its class names are not meant for the rest of the page
    for parent in list(drawing.iter()):
        for place, element in enumerate(parent):
            if slug := _notebook_of(element):
                link = ET.Element(f"{{{SVG}}}a", {"href": f"{notebooks}/{slug}/{slug}.html"})
                link.append(element)
                parent[place] = link
    ET.register_namespace("", SVG)
    in_words = f', or read it <a href="{notebooks}/../assets/map.html">in words</a>' if here else ""
    hint = f"The map is wider than this screen: swipe it{in_words}."
    frame = '<div class="map-frame" role="region" aria-label="The map of the Transformer" tabindex="0">'
    svg = ET.tostring(drawing, encoding="unicode")
    return f'```{{raw}} html\n:class: no-search\n\n<p class="map-hint">{hint}</p>\n{frame}\n{svg}\n</div>\n```'


def _notebook_of(element: ET.Element) -> str:
    """The notebook whose block this is; nothing if it is no block with a number."""
    classes = element.get("class", "").split()
    if "part" not in classes or element.find(f"./{{{SVG}}}text[@class='number']") is None:
        return ""
    return next(book.slug for book in the_course().notebooks if f"part-{book.slug[:2]}" in classes)
