"""Keyframes of MuJoCo: an MJCF file with a `<key>` per sample, to be included in the robot's own.

<mujoco><keyframe><key name="0" time="0.0" qpos="…" qvel="…"/></keyframe></mujoco>
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ..errors import ClipError
from .format import Companions, MotionFormat
from .layout import numbers_of
from .motion import Motion
from .simulator_archive import motion_of_qpos, qpos_of, qvel_of

HEAD = 4096  # bytes in which the first key must begin


def matches(content: bytes) -> bool:
    """Return True if it is MJCF that begins with keyframes."""
    head = content[:HEAD]
    return b"<mujoco" in head and b"<keyframe" in head and b"<worldbody" not in head


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as keyframes."""
    assert companions.robot is not None  # as `needs` says
    numbers = numbers_of(motion, companions.robot, companions.order)
    rows = zip(numbers.times.tolist(), qpos_of(numbers).tolist(), qvel_of(numbers).tolist(), strict=True)
    lines = ["<mujoco>", "  <keyframe>"]
    for k, (time, qpos, qvel) in enumerate(rows):
        place, speed = (" ".join(map(repr, row)) for row in (qpos, qvel))
        lines.append(f'    <key name="{k}" time="{time!r}" qpos="{place}" qvel="{speed}"/>')
    return "\n".join([*lines, "  </keyframe>", "</mujoco>", ""]).encode()


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion of keyframes, without keys that have no `qpos`."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ClipError("it has a DOCTYPE, which no keyframe needs and which can hide entities; delete that line")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ClipError(f"not XML: {error}") from None
    keys = [key for key in root.iter("key") if key.get("qpos")]
    if not keys:
        raise ClipError("it has no <key> with a qpos")
    try:
        rows = [[float(word) for word in (key.get("qpos") or "").split()] for key in keys]
        times = np.array([float(key.get("time", "nan")) for key in keys])
    except ValueError as error:
        raise ClipError(f"a key holds something else than numbers: {error}") from None
    if len({len(row) for row in rows}) > 1:
        raise ClipError("its keys have different numbers of qpos; are they of one robot?")
    table = np.array(rows)
    if not np.isfinite(times).all() or not np.isfinite(table).all():
        raise ClipError("every key of a motion needs a time and finite numbers")
    return motion_of_qpos(table, times, companions)


FORMAT = MotionFormat(
    name="mujoco-keys", label="MuJoCo keyframes", extensions=(".xml",), needs=("robot",),
    matches=matches, read=read, write=write,
)  # fmt: skip
