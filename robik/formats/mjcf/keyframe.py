"""MJCF's keyframes: the pose that the file's author keeps the robot in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import Pose
from ..assembly.open_joint import OpenJoint, joint_values
from ..imported import Notes
from ..xml_file import numbers
from .file import MjcfFile

SIZES = {"fixed": 0, "revolute": 1, "prismatic": 1, "spherical": 4, "free": 7}  # numbers in a keyframe's qpos
PREFERRED = "home"


def keyframes(file: MjcfFile) -> list[Element]:
    """Return the file's keyframes that have a `qpos`, the one that counts first: `home`, else the file's first."""
    keys = [key for section in file.root.findall("keyframe") for key in section.findall("key") if key.get("qpos")]
    return sorted(keys, key=lambda key: key.get("name") != PREFERRED)


def with_keyframe(keys: Sequence[Element], joints: Sequence[OpenJoint], notes: Notes, report: Notes) -> list[OpenJoint]:
    """Return the joints, stored as the first keyframe that is a pose has them; note the keyframes that are none.

    `joints` are all that move, in MuJoCo's order.
    """
    for key in keys:
        where = f"keyframe {key.get('name') or 1!r}"
        words = key.get("qpos", "").split()
        wanted = sum(SIZES[joint.type] for joint in joints)
        if len(words) != wanted:
            notes.add(f"it has {len(words)} coordinates where the robot has {wanted}, so it was left out", where)
            continue
        try:
            placed = _placed(key, joints, where)
        except FormatError as error:
            notes.add(f"{str(error).removeprefix(f'{where}: ')}; it was left out", where)
            continue
        report.add(f"its rest pose is the file's {where}")
        return placed
    return list(joints)


def _placed(key: Element, joints: Sequence[OpenJoint], where: str) -> list[OpenJoint]:
    words = key.get("qpos", "").split()
    values = list(numbers(" ".join(words), len(words), f"{where}: its qpos"))
    if _is_blank(values, joints):
        raise FormatError(f"{where}: it is all zeros, and puts the base at the origin, where its body does not stand")
    placed = []
    for joint in joints:
        own: Sequence[float] = values[: SIZES[joint.type]]
        values = values[SIZES[joint.type] :]
        if joint.type in ("spherical", "free"):
            turn = np.array(own[-4:])
            length = float(np.linalg.norm(turn))
            if not 1e-15 < length < np.inf:
                raise FormatError(f"{where}: the quaternion of joint {joint.name!r} must not be zero")
            now = Pose((own[0], own[1], own[2]) if joint.type == "free" else (0.0, 0.0, 0.0), tuple(turn / length))
            if joint.type == "free":
                now = joint.near.inverse() @ now
            own = joint_values(joint, now.matrix, np.array(now.position))
        placed.append(replace(joint, stored=tuple(own)))
    return placed


def _is_blank(values: Sequence[float], joints: Sequence[OpenJoint]) -> bool:
    """Return whether values are what a template has: a free base at the origin, which stands elsewhere by itself."""
    bases = [joint for joint in joints if joint.type == "free"]
    upright = {"spherical": (1.0, 0.0, 0.0, 0.0), "free": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)}
    blank = [value for joint in joints for value in upright.get(joint.type, (0.0,) * SIZES[joint.type])]
    return list(values) == blank and any(joint.near.position != (0.0, 0.0, 0.0) for joint in bases)
