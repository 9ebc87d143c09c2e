"""Inventory of a robot in words: its parts, and what its import found."""

from __future__ import annotations

from bpy.types import Object

from ...translations import sentence
from .parts import coordinate_names, parts

WIDE, MANY = 110, 12  # of a popup: letters in a line, and warnings, before the rest is only counted


def inventory(root: Object) -> str:
    """Bodies, joints, motors and loops, in one line."""
    kinds = parts(root)
    motors = sum(len(coordinate_names(j)) for j in kinds["JOINT"] if j.robik.joint.actuated)
    is_tied = any(j.robik.joint.parent is None for j in kinds["JOINT"])
    loops = len(kinds["JOINT"]) - len(kinds["BODY"]) + (0 if is_tied else 1)
    bodies, joints = len(kinds["BODY"]), len(kinds["JOINT"])
    counts = [
        sentence("{count} body" if bodies == 1 else "{count} bodies", count=bodies),
        sentence("{count} joint" if joints == 1 else "{count} joints", count=joints),
        sentence("{count} motor" if motors == 1 else "{count} motors", count=motors),
    ]
    if loops > 0:
        counts.append(sentence("{count} loop" if loops == 1 else "{count} loops", count=loops))
    return ", ".join(counts)


def import_lines(root: Object) -> list[tuple[str, str]]:
    """Return what an import found, line by line, each with its icon: counts, what was decided, warnings."""
    told = root.robik.robot
    warnings = told.warnings.splitlines()
    lines = [
        (inventory(root), "OUTLINER_OB_ARMATURE"),
        *((sentence, "CHECKMARK") for sentence in told.report.splitlines()),
    ]
    lines += [(sentence, "ERROR") for sentence in warnings[:MANY]]
    if len(warnings) > MANY:
        lines.append((f"and {len(warnings) - MANY} more: see the panel Diagnosis", "ERROR"))
    return [(text if len(text) <= WIDE else text[: WIDE - 1] + "…", icon) for text, icon in lines]
