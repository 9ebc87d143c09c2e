"""MJCF's keyframes: the pose that the file's author keeps the robot in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import atan2
from xml.etree.ElementTree import Element

import numpy as np

from robik.errors import FormatError
from robik.formats.imported import Notes
from robik.formats.mjcf_file import MjcfFile
from robik.formats.open_joint import OpenJoint
from robik.formats.xml_file import numbers
from robik.mechanism import Pose
from robik.mechanism.pose import matrix_quaternion

SIZES = {"fixed": 0, "revolute": 1, "prismatic": 1, "spherical": 4, "free": 7}  # numbers in a keyframe's qpos
PREFERRED = "home"


def with_keyframe(file: MjcfFile, joints: Sequence[OpenJoint], notes: Notes, report: Notes) -> list[OpenJoint]:
    """The joints, stored as a keyframe has them: the one called `home`, else the first.

    Args:
        joints: those of the file, in its order.

    Raises:
        FormatError: a keyframe of something else than numbers.
    """
    keys = [key for section in file.root.findall("keyframe") for key in section.findall("key") if key.get("qpos")]
    key = next((k for k in keys if k.get("name") == PREFERRED), keys[0] if keys else None)
    if key is None:
        return list(joints)
    where = f"keyframe {key.get('name') or 1!r}"
    words = key.get("qpos", "").split()
    wanted = sum(SIZES[joint.type] for joint in joints)
    if len(words) != wanted:
        notes.add(f"it has {len(words)} coordinates where the robot has {wanted}, so it was left out", where)
        return list(joints)
    report.add(f"its rest pose is the file's {where}")
    return _placed(key, joints, where)


def _placed(key: Element, joints: Sequence[OpenJoint], where: str) -> list[OpenJoint]:
    words = key.get("qpos", "").split()
    values = list(numbers(" ".join(words), len(words), f"{where}: its qpos"))
    placed = []
    for joint in joints:
        own, values = values[: SIZES[joint.type]], values[SIZES[joint.type] :]
        if joint.type in ("spherical", "free"):
            turn = np.array(own[-4:])
            length = float(np.linalg.norm(turn))
            if not 1e-15 < length < np.inf:
                raise FormatError(f"{where}: the quaternion of joint {joint.name!r} must not be zero")
            now = Pose((own[0], own[1], own[2]) if joint.type == "free" else (0.0, 0.0, 0.0), tuple(turn / length))
            if joint.type == "free":
                now = joint.near.inverse() @ now
            vector = _rotation_vector(now.matrix)
            own = [*now.position, *vector] if joint.type == "free" else vector
        placed.append(replace(joint, stored=tuple(own)))
    return placed


def _rotation_vector(matrix: np.ndarray) -> list[float]:
    w, *xyz = matrix_quaternion(matrix)
    length = float(np.linalg.norm(xyz))
    return [(2.0 * atan2(length, w) / length if length > 1e-12 else 2.0) * float(v) for v in xyz]
