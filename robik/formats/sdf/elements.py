"""Elements of an SDF file read: versions, poses, texts, names in a scope."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import radians
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Pose
from ...mechanism.pose import IDENTITY, roll_pitch_yaw
from ..xml_file import numbers

MODEL = "__model__"
KINDS = ("link", "joint", "frame")


def join(scope: str, name: str) -> str:
    """Return the full name of `name` in the model `scope`; empty for the world."""
    return f"{scope}::{name}" if scope else name


def version_of(root: Element) -> tuple[int, int]:
    """Return the major and minor version of an SDF file; raise FormatError if it is no SDF or cannot be read."""
    if root.tag != "sdf":
        raise FormatError(f"its root element must be <sdf>, not <{root.tag[:40]}>")
    try:
        major, minor = (int(part) for part in root.get("version", "").split(".")[:2])
    except ValueError:
        raise FormatError(f"its version must be like 1.9, not {root.get('version', '')[:40]!r}") from None
    if major != 1:
        raise FormatError(f"its version is {major}.{minor}; 1.5 to 1.12 can be read")
    return major, minor


def pose_of(element: Element, where: str) -> tuple[Pose, str]:
    """Return the pose [m] of an element's <pose>, and the frame that it is relative to; empty where it names none."""
    pose = element.find("pose")
    if pose is None:
        return IDENTITY, ""
    relative_to = pose.get("relative_to", "") or pose.get("frame", "")
    if not (pose.text or "").strip():
        return IDENTITY, relative_to
    if pose.get("rotation_format") == "quat_xyzw":
        x, y, z, *q = numbers(pose.text, 7, f"{where}: its pose")
        length = float(np.linalg.norm(q))
        if not 0.5 < length < 2.0:
            raise FormatError(f"{where}: its pose must have a unit quaternion, not {q}")
        a, b, c, w = (v / length for v in q)
        return Pose((x, y, z), (w, a, b, c)), relative_to
    x, y, z, *angles = numbers(pose.text, 6, f"{where}: its pose")
    if pose.get("degrees") in ("true", "1"):
        angles = [radians(angle) for angle in angles]
    return Pose.of(roll_pitch_yaw(*angles), (x, y, z)), relative_to


def text_of(element: Element, tag: str) -> str:
    """Return the stripped text of a child element; empty where there is none."""
    return (element.findtext(tag) or "").strip()


@dataclass(frozen=True)
class Node:
    """A frame.

    Attributes:
        kind: "model", "link", "joint" or "frame".
        element: what the file says of it.
        scope: the model that it stands in.
        pose: in the frame `relative_to`, a name in the scope; that is the world's where it is empty.
        attached_to: what it moves with, a name in the scope; empty for links, which move by themselves.
        version: of the file that it stands in.
        file: that file.
    """

    kind: str
    element: Element
    _: KW_ONLY
    scope: str
    pose: Pose
    relative_to: str
    attached_to: str
    version: tuple[int, int]
    file: Path


def node_of(element: Element, name: str, scope: str, version: tuple[int, int], file: Path) -> Node:
    """Return a link, joint or frame of a model."""
    pose, relative_to = pose_of(element, f"{element.tag} {name!r}")
    attached_to = ""
    if element.tag == "joint":
        attached_to = text_of(element, "child")
        relative_to = relative_to or (MODEL if attached_to == WORLD else attached_to)
    elif element.tag == "frame":
        attached_to = element.get("attached_to", "") or MODEL
        relative_to = relative_to or attached_to
    return Node(
        element.tag,
        element,
        scope=scope,
        pose=pose,
        relative_to=relative_to or MODEL,
        attached_to=attached_to,
        version=version,
        file=file,
    )
