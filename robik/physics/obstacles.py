"""Obstacles to standing: why a robot cannot stand through a motion, and what would have to change in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dynamics import InverseDynamics
from ..dynamics.drives import STANDING
from ..feet.legs import turns_freely
from ..feet.support import sole_length, standing_points
from .plan import Plan

EDGE = 0.05  # of its length: a sole whose points differ more in height stands on its edge
OFTEN = 0.05  # share of the samples in which something is worth a word
INSIDE = 0.97  # share of the samples in which the zero-moment point is to be inside
SLIDES = 0.03  # [m/s] of a standing foot
LOOSE = 0.05  # weights of the robot: a force that neither motors nor ground can give
PLACEHOLDER = 1.0  # [N m] of effort in files whose author gave none
GIVES = 2.0  # [degrees] by which a motor may give way before it is worth a word


def obstacles(plan: Plan, fell: Mapping[str, Any] | None = None) -> list[str]:
    """Return a sentence for each obstacle to standing through a motion, but for soft legs.

    The decisive one comes first: weak motors, unless the robot falls with motors of any torque, too. `fell` is the
    result of the undisturbed trial; None where it was not simulated.
    """
    loose, weak = _loose(plan), weak_motors(plan)
    own = [*_tilted_soles(plan), *_sliding(plan), *_thrown(plan)]
    if loose:
        return [*loose, *own]
    if not weak or fell is None or "strong_falls_at" not in fell:
        return [*weak, *own, *_giving(plan)]
    falls = fell["strong_falls_at"]
    if falls is None:
        return [f"{weak[0]}; with stronger motors the robot stands", *own, *_giving(plan)]
    return [*own, f"{weak[0]}; with stronger motors the robot falls as well, after {falls:.1f} s", *_giving(plan)]


def _loose(plan: Plan) -> list[str]:
    """Name joints that nothing drives, where they keep motors and ground from doing the motion.

    What its motors would have to give then is no number.
    """
    if float(np.median(plan.dynamics.missing)) < LOOSE:
        return []
    joints = InverseDynamics(plan.mechanism).undriven_joints
    if not joints:
        return []
    named = ", ".join(joints[:4]) + (f" and {len(joints) - 4} more" if len(joints) > 4 else "")
    return [f"nothing drives {named}: motors and ground alone cannot do the motion"]


def soft_legs(plan: Plan) -> list[str]:
    """Return a sentence on the softest leg that is too soft to stand on; none where all are stiff enough."""
    soft = {foot: share for foot, share in plan.shares.items() if share < 0.999 * STANDING}
    if not soft:
        return []
    foot, share = min(soft.items(), key=lambda item: item[1])
    return [
        f"the leg of {foot} has {share:.1f} of the stiffness that standing needs: stiffer motors or a higher P gain,"
        f" {STANDING / share:.1f} times"
    ]


def weak_motors(plan: Plan) -> list[str]:
    """Return a sentence on motors that cannot give the torque that the motion needs; none where all can."""
    effort = np.array([plan.drives[name].effort for name in plan.dynamics.actuators])
    share = np.abs(plan.dynamics.torque).max(axis=0) / np.where(np.isfinite(effort), effort, np.inf)
    weak = sorted(zip(share.tolist(), plan.dynamics.actuators, strict=True), reverse=True)
    named = ", ".join(f"{name} {100 * part:.0f} %" for part, name in weak[:3] if part > 1.0)
    said = (
        f"; all have {PLACEHOLDER:g} N m, as exporters write where nobody gave a torque" if _are_unsaid(effort) else ""
    )
    return [f"the motion needs more torque than motors have: {named}{said}"] if named else []


def _are_unsaid(effort: np.ndarray) -> bool:
    """Return whether all motors' efforts (A,) are what exporters write where nobody gave one."""
    return len(effort) > 1 and bool((effort == PLACEHOLDER).all())


def _tilted_soles(plan: Plan) -> list[str]:
    found = []
    for name, stands in plan.standing.items():
        if not stands.any():
            continue
        frame = plan.mechanism.frame(name)
        heights = np.ptp(standing_points(plan.mechanism, plan.motion, name)[stands][..., 2], axis=1)
        edge = float(np.mean(heights > EDGE * sole_length(frame)))
        if edge > OFTEN:
            tilt = np.degrees(np.arcsin(min(1.0, float(heights.max()) / sole_length(frame))))
            why = (
                ""
                if turns_freely(plan.mechanism, name)
                else "; its leg has fewer motors than the six that a flat foot needs"
            )
            found.append(
                f"{name} stands on its edge in {100 * edge:.0f} % of its frames, tilted by up to {tilt:.0f}°{why}"
            )
    return found


def _sliding(plan: Plan) -> list[str]:
    """Name the foot that slides most while it should stand."""
    slides = {}
    for name, stands in plan.standing.items():
        points = standing_points(plan.mechanism, plan.motion, name).mean(axis=1)
        both = stands[1:] & stands[:-1]
        if both.any():
            speed = np.linalg.norm(np.diff(points, axis=0), axis=1) / np.diff(plan.motion.times)
            slides[name] = float(np.median(speed[both]))
    if not slides or max(slides.values()) < SLIDES:
        return []
    name = max(slides, key=lambda foot: slides[foot])
    return [
        f"{name} slides at {1e3 * slides[name]:.0f} mm/s while it should stand: pin the feet, or take shorter steps"
    ]


def _thrown(plan: Plan) -> list[str]:
    inside = plan.zero_moment_inside
    if inside is None or inside >= INSIDE:
        return []
    stiff = [name for name in plan.standing if not turns_freely(plan.mechanism, name)]
    why = f"; the legs of {' and '.join(stiff)} have fewer motors than the six that sway hips over a flat foot"
    return [
        f"in {100 * (1 - inside):.0f} % of the frames the motion needs a force that no foot can give (zero-moment point"
        f" outside): balance it, slower or with larger feet{why if stiff else ''}"
    ]


def _giving(plan: Plan) -> list[str]:
    """Name the motor that gives way most under its load, where goals do not carry the weight."""
    if not np.array_equal(plan.goals, np.clip(plan.reference.values, *plan.mechanism.actuator_limits.T)):
        return []
    turns = [unit == "rad" for unit in plan.mechanism.actuator_units]
    stiffness = np.array([plan.drives[name].stiffness for name in plan.dynamics.actuators])
    gives = np.where(turns, np.degrees(np.abs(plan.dynamics.torque).max(axis=0) / stiffness), 0.0)
    if not len(gives) or gives.max() < GIVES:
        return []
    name = plan.dynamics.actuators[int(gives.argmax())]
    return [
        f"{name} gives way by up to {gives.max():.1f}° under its load: Carry Weight sends goals that make up for it"
    ]
