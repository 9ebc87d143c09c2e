"""Content of a body of an MJCF file, its frames opened."""

from __future__ import annotations

from dataclasses import dataclass, field

from .file import MjcfFile, Placed
from .geoms import Geom


@dataclass
class Content:
    """Content of a body."""

    joints: list[Placed] = field(default_factory=list)
    geoms: list[Geom] = field(default_factory=list)
    inertial: Placed | None = None
    # And those that are attached, in the file's order, which is MuJoCo's.
    bodies: list[Placed] = field(default_factory=list)


def is_aligned(content: Content, file: MjcfFile) -> bool:
    """Return whether MuJoCo gives a body another frame than the file: one that is free and carries no other."""
    if len(content.joints) != 1 or content.bodies:
        return False
    element, _, inherited, _ = content.joints[0]
    attributes = element.attrib if element.tag == "freejoint" else file.attributes(element, inherited)
    wanted = attributes.get("align", "auto")
    is_free = element.tag == "freejoint" or attributes.get("type") == "free"
    return is_free and (wanted == "true" or (wanted == "auto" and file.is_true("alignfree", "false")))
