"""The validation mechanism: one degree of freedom through all common joints at once (the paper's Fig. 6a).

    base ─ crank (revolute, driven) ─ spherical ─ rod ─ universal ─ slider ─ prismatic ─ base        a slider-crank in
    space crank ─ cartesian ─ spindle ─ cylindrical ─ slider             the spindle turns as the crank does, about an
    axis on the slider spindle ─ spherical ─ strut ─ universal ─ base                 and the strut says how high it
    rides spindle ─ fixed ─ tool,  world ─ fixed ─ base

Three loops. Two of the second loop's rows are redundant, since nothing in it turns but about the vertical; so of 17
freedoms 16 are taken. `tool_pose` says in closed form where the tool is.

`python -m experiments.robots.validation` rewrites validation.robik.json.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from experiments.robots.parts import (
    ACCENT,
    BRASS,
    FRAME,
    RUBBER,
    SHELL,
    STEEL,
    along,
    ball,
    bar,
    body,
    box,
    disc,
    driven,
    rounded,
    servo,
)
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.robots import FOLDER

X, Y, Z = np.eye(3)
CRANK = 0.050  # radius [m]
CRANK_Z = 0.060  # of the crank's pin
ROD = 0.140  # from the crank's pin to the slider's joint
SLIDER_Z = 0.090  # of the slider's rail and joint
SPINDLE = 0.030  # radius of the strut's pin on the spindle
STRUT = 0.220
STRUT_FOOT = np.array([0.130, -0.120, 0.020])
TOOL_Z = 0.060  # above the strut's pin


def slider(angle: float) -> float:
    """Return the slider's position [m] along x when the crank has turned by `angle` from x."""
    return CRANK * cos(angle) + sqrt(ROD**2 - (SLIDER_Z - CRANK_Z) ** 2 - (CRANK * sin(angle)) ** 2)


def tool_pose(angle: float) -> Pose:
    """Return where the tool is when the crank has turned by `angle` [rad]."""
    axis = np.array([slider(angle), 0.0, 0.0])
    pin = axis + SPINDLE * np.array([cos(angle), sin(angle), 0.0])
    reach = pin - STRUT_FOOT
    pin[2] = STRUT_FOOT[2] + sqrt(STRUT**2 - reach[0] ** 2 - reach[1] ** 2)
    return Pose((axis[0], axis[1], pin[2] + TOOL_Z), (cos(angle / 2), 0.0, 0.0, sin(angle / 2)))


def build() -> Mechanism:
    """Return the mechanism, in its rest pose: the crank along x."""
    pin, knuckle = np.array([CRANK, 0.0, CRANK_Z]), np.array([slider(0.0), 0.0, SLIDER_Z])
    tool = np.array(tool_pose(0.0).position)
    head = tool - TOOL_Z * Z + SPINDLE * X
    upright = np.cross(head - STRUT_FOOT, X)
    at = {
        name: rounded(v, 12)
        for name, v in {"pin": pin, "knuckle": knuckle, "head": head, "foot": STRUT_FOOT, "tool": tool}.items()
    }
    joints = (
        Joint("mount", "fixed", WORLD, "base"),
        driven(Joint("crank_drive", "revolute", "base", "crank", position=(0.0, 0.0, CRANK_Z), axis=(0.0, 0.0, 1.0))),
        Joint("crank_pin", "spherical", "crank", "rod", position=at["pin"]),
        Joint("rail", "prismatic", "base", "slider", position=at["knuckle"], axis=(1.0, 0.0, 0.0)),
        Joint("knuckle", "universal", "slider", "rod", position=at["knuckle"], axis=(0.0, 0.0, 1.0),
              axis2=(0.0, 1.0, 0.0)),
        Joint("spindle_bearing", "cylindrical", "slider", "spindle", position=at["knuckle"], axis=(0.0, 0.0, 1.0)),
        Joint("parallel_guide", "cartesian", "crank", "spindle", position=(0.0, 0.0, CRANK_Z), axis=(1.0, 0.0, 0.0),
              axis2=(0.0, 1.0, 0.0)),
        Joint("strut_head", "spherical", "spindle", "strut", position=at["head"]),
        Joint("strut_foot", "universal", "base", "strut", position=at["foot"], axis=(1.0, 0.0, 0.0),
              axis2=rounded(upright / np.linalg.norm(upright), 12)),
        Joint("weld", "fixed", "spindle", "tool", position=at["tool"]),
    )  # fmt: skip
    rods = _rod("rod", pin, knuckle), _rod("strut", STRUT_FOOT, head)
    bodies = (_base(), _crank(pin), rods[0], _slider(knuckle), _spindle(knuckle, head), rods[1], _tool(tool))
    return Mechanism("validation", bodies, joints, frames=(Frame("tool_frame", "tool"),))


def _base() -> Body:
    rail = [box((0.130, s * 0.030, SLIDER_Z - 0.020), (0.150, 0.008, 0.010), 0.05, STEEL) for s in (1, -1)]
    legs = [box((x, s * 0.030, 0.034), (0.008, 0.008, 0.068), 0.03, FRAME) for x in (0.060, 0.200) for s in (1, -1)]
    parts = (
        box((0.070, -0.040, -0.005), (0.320, 0.260, 0.010), 1.0, RUBBER),
        *servo((0.0, 0.0, CRANK_Z - 0.032), Z, -X),
        *rail,
        *legs,
        bar(STRUT_FOOT * [1, 1, 0], STRUT_FOOT - 0.008 * Z, 0.012, 0.03, FRAME, "cylinder"),
    )
    return body("base", Pose(), parts)


def _crank(pin: np.ndarray) -> Body:
    hub = np.array([0.0, 0.0, CRANK_Z - 0.010])
    post = hub - 0.040 * X
    parts = (
        disc(hub, Z, 0.056, 0.006, 0.08, ACCENT),
        bar(pin - 0.010 * Z, pin, 0.0040, 0.01, STEEL, "cylinder"),
        ball(pin, 0.0070, 0.01, BRASS),
        bar(post, post + 0.110 * Z, 0.0050, 0.02, STEEL, "cylinder"),
        bar(post + 0.110 * Z, post + 0.110 * Z + 0.060 * Y, 0.0040, 0.02, STEEL, "cylinder"),
    )
    return body("crank", Pose((0.0, 0.0, CRANK_Z)), parts)


def _rod(name: str, start: np.ndarray, end: np.ndarray) -> Body:
    way = (end - start) / np.linalg.norm(end - start)
    parts = (
        bar(start, end, 0.0045, 0.03, STEEL, "cylinder"),
        ball(start, 0.0080, 0.01, BRASS),
        ball(end, 0.0080, 0.01, BRASS),
    )
    return body(name, Pose.of(along(way, Y), start), parts)


def _slider(knuckle: np.ndarray) -> Body:
    parts = (
        box(knuckle - 0.014 * Z, (0.036, 0.072, 0.008), 0.08, SHELL),
        disc(knuckle + 0.010 * Z, Z, 0.0140, 0.030, 0.04, FRAME),
    )
    return body("slider", Pose(tuple(knuckle)), parts)


def _spindle(knuckle: np.ndarray, head: np.ndarray) -> Body:
    hub = np.array([knuckle[0], knuckle[1], head[2]])
    parts = (
        bar(knuckle + 0.010 * Z, hub + TOOL_Z * Z - 0.030 * Z, 0.0070, 0.05, STEEL, "cylinder"),
        disc(hub, Z, 0.0130, 0.012, 0.02, FRAME),
        bar(hub, head, 0.0040, 0.01, STEEL, "cylinder"),
    )
    return body("spindle", Pose(tuple(knuckle)), parts)


def _tool(tool: np.ndarray) -> Body:
    parts = (
        bar(tool - 0.028 * Z, tool - 0.006 * Z, 0.0130, 0.04, SHELL, "cylinder"),
        box(tool, (0.050, 0.016, 0.012), 0.03, ACCENT),
        ball(tool + 0.020 * X, 0.0090, 0.01, ACCENT),
    )
    return body("tool", Pose(tuple(tool)), parts)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "validation.robik.json")
