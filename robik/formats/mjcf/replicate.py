"""MJCF's <replicate>, opened before anything else is read: copies in frames one after the other, their names numbered.

What refers to a name in it, by an equality, a tendon or an actuator, is copied along, each copy for its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from xml.etree.ElementTree import Element, SubElement

from ...errors import FormatError
from ...mechanism import Pose
from ..xml_file import number

MOST = 200_000  # elements that come of copying
NAMED = {
    "body": "body",
    "joint": "joint",
    "freejoint": "joint",
    "geom": "geom",
    "site": "site",
}  # tag → what its name is of
REFERENCES = {"body": "body", "body1": "body", "body2": "body", "joint": "joint", "joint1": "joint", "joint2": "joint",
              "jointinparent": "joint", "site": "site", "site1": "site", "site2": "site",
              "tendon": "tendon"}  # fmt: skip
Names = set[tuple[str, str]]  # (what of, name)


def open_replicates(root: Element, placed: Callable[[Element, int], Iterable[Pose]]) -> list[str]:
    """Put copies in the place of each <replicate>, the inner ones first, and return what was left out.

    As in MuJoCo that is each equality between something that is copied and something that is not. `placed` returns
    a copy's pose in the one before, from the element.
    """
    parents = {child: parent for parent in root.iter() for child in parent}
    left_out: list[str] = []
    made = 0

    def make(elements: int) -> None:
        nonlocal made
        made += elements
        if made > MOST:
            raise FormatError(f"its <replicate>s make more than {MOST} elements")

    make(_growth(root))  # at once, and not after having made as many
    made = 0
    for element in reversed([e for e in root.iter("replicate") if e in parents]):
        count = _count(element)
        if any(inner.tag == "attach" for inner in element.iter()):
            raise FormatError("an <attach> in a <replicate> is not read; write the copies out")
        make(count * sum(1 for _ in element.iter()))
        _open(element, parents[element], count, placed(element, count))
        left_out += _follow(root, element, _endings(element, count), make)
    return left_out


def _count(element: Element) -> int:
    count = number(element, "count", "a <replicate>")
    if not (count.is_integer() and 0 <= count <= MOST):
        raise FormatError(f"a <replicate>: its count must be a whole number up to {MOST}, not {count:g}")
    return int(count)


def _growth(root: Element) -> int:
    """Return how many elements come of copying at least: without what refers to names in copies."""
    sizes: dict[Element, int] = {}
    elements = list(root.iter())
    for element in reversed(elements):  # the inner ones first
        inside = sum(sizes.pop(child) for child in element)
        sizes[element] = (_count(element) if element.tag == "replicate" else 1) * (1 + inside)
    return sizes[root] - len(elements)


def _endings(element: Element, count: int) -> list[str]:
    """Return what is put behind the names of each copy."""
    return [f"{element.get('sep', '')}{k:0{len(str(count))}d}" for k in range(count)]


def _open(element: Element, parent: Element, count: int, placed: Iterable[Pose]) -> None:
    copies = []
    for ending, at in zip(_endings(element, count), placed, strict=True):
        attributes = {"pos": " ".join(map(repr, at.position)), "quat": " ".join(map(repr, at.quaternion))}
        if "childclass" in element.attrib:
            attributes["childclass"] = element.attrib["childclass"]
        frame = Element("frame", attributes)
        _copy_children(element, frame, partial(_renamed, ending))
        copies.append(frame)
    where = list(parent).index(element)
    parent[where : where + 1] = copies


def _renamed(ending: str, element: Element) -> dict[str, str]:
    return {"name": element.attrib["name"] + ending} if _name_of(element) else {}


def _copy_children(source: Element, target: Element, changed: Callable[[Element], dict[str, str]]) -> None:
    """Copy what is in an element, with some attributes changed.

    Not by recursion, which a file could drive too deep.
    """
    waiting = [(source, target)]
    while waiting:
        old, new = waiting.pop()
        waiting += [(child, SubElement(new, child.tag, {**child.attrib, **changed(child)})) for child in old]


def _name_of(element: Element) -> tuple[str, str] | None:
    return (NAMED[element.tag], element.get("name", "")) if element.tag in NAMED and element.get("name") else None


def _follow(root: Element, element: Element, endings: list[str], make: Callable[[int], None]) -> list[str]:
    """Copy what refers to names in an element that was copied; gives what could not be."""
    names: Names = {name for e in element.iter() if (name := _name_of(e))}
    left_out: list[str] = []
    for section in (s for tag in ("tendon", "actuator", "equality") for s in root.findall(tag)):
        content = []
        for e in section:
            inside = [reference in names for reference in _references(e)]
            if not any(inside):
                content.append(e)
            elif section.tag == "equality" and not all(inside):
                left_out.append(f"{e.tag} {e.get('name', '')!r}")
            else:
                make(len(endings) * sum(1 for _ in e.iter()))
                content += [_copied(e, ending, names) for ending in endings]
                if section.tag == "tendon":
                    names.add(("tendon", e.get("name", "")))
        section[:] = content
    return left_out


def _references(element: Element) -> Iterator[tuple[str, str]]:
    """Return what an element and those in it refer to, as in `Names`."""
    return ((kind, e.attrib[key]) for e in element.iter() for key, kind in REFERENCES.items() if key in e.attrib)


def _copied(element: Element, ending: str, names: Names) -> Element:
    def changed(e: Element) -> dict[str, str]:
        return {key: e.attrib[key] + ending for key, kind in REFERENCES.items() if (kind, e.get(key)) in names}

    own = {"name": element.attrib["name"] + ending} if "name" in element.attrib else {}
    copy = Element(element.tag, {**element.attrib, **changed(element), **own})
    _copy_children(element, copy, changed)
    return copy
