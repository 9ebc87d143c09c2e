"""Loops that other dialects of URDF and SDF close in elements that are not read."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from xml.etree.ElementTree import Element

# In an element's name: <loop_joint> (early URDF, Isaac), <loop> and <coupling> (URDF+), <constraint> (urdfdom),
# drake:ball_constraint and its kin, drake:linear_bushing_rpy.
CLOSES = re.compile("loop|constraint|coupling|bushing")


def unread_loops(elements: Iterable[Element], names: Container[str]) -> Iterator[str]:
    """Yield the elements, in words, that close a loop in a way that is not read."""
    for element in elements:
        tag = element.tag.rpartition("}")[2]
        if CLOSES.search(tag) or (tag == "plugin" and _ties(element)):
            said = (word for each in element.iter() for word in (*each.attrib.values(), (each.text or "").strip()))
            ends = [word for word in dict.fromkeys(said) if word in names and word != element.get("name")]
            own = f" {element.get('name')!r}" if element.get("name") else ""
            yield f"<{tag}>{own}" + (f" between {' and '.join(map(repr, ends))}" if ends else "")


def _ties(plugin: Element) -> bool:
    """Return whether a plugin makes a joint between two links, as Pegasus's does."""
    return all((plugin.findtext(end) or "").strip() for end in ("parent", "child"))
