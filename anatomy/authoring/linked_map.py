"""The map of the course as a part of a web page: each block is a link to its notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from anatomy.course.maps import SVG, light
from anatomy.wiring import the_course


def linked_map() -> str:
    """The map as an `<svg>` to stand in HTML; its links lead from the site's front page to the notebooks' pages."""
    drawing = ET.fromstring(light())
    drawing.attrib |= {"role": "group", "class": "course-map"}  # as an "img", screen readers would skip what is in it
    style = drawing.find(f"{{{SVG}}}style")
    assert style is not None
    style.text = f".course-map {{{style.text}}}"  # its class names are not meant for the rest of the page
    for parent in list(drawing.iter()):
        for place, element in enumerate(parent):
            if address := _leads_to(element):
                link = ET.Element(f"{{{SVG}}}a", {"href": address})
                link.append(element)
                parent[place] = link
    ET.register_namespace("", SVG)
    return ET.tostring(drawing, encoding="unicode")


def _leads_to(element: ET.Element) -> str:
    """The page of the notebook whose block this is; nothing if it is no block with a number."""
    classes = element.get("class", "").split()
    if "part" not in classes or element.find(f"./{{{SVG}}}text[@class='number']") is None:
        return ""
    book = next(book for book in the_course().notebooks if f"part-{book.slug[:2]}" in classes)
    return f"notebooks/{book.slug}/{book.slug}.html"
