"""Three contacts where two are possible (Caron): tasks that contradict each other, in a weighted program.

A hub in a plane with three limbs of two links each, whose tips should touch three points. Any two can be touched, all
three cannot: they lie further from their middle than a limb reaches. With equal weights the robot ends somewhere
between and touches none; with weights of 10⁴, 10² and 1 it touches the first, nearly the second, and lets go of the
third.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from experiments.experiment import Experiment, Found, tell
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.objectives.weights import Weights
from robik.tracking import DifferentialSettings, DifferentialTracker, Target, Targets
from robik.tracking.limits import MotionLimits

HUB, LINK = 0.1, 0.25  # m
KNEE = (0.3, 2.2)  # rad: no limb goes straight
REACH = HUB + 2 * LINK * cos(KNEE[0] / 2)
FAR = 1.08  # of the reach: how far the contacts are from their middle
TIPS = ("tip_1", "tip_2", "tip_3")
DT, STEPS = 1 / 60, 400
WEIGHTS = ((1.0, 1.0, 1.0), (1e4, 1e2, 1.0))  # a compromise, and priorities


@dataclass(frozen=True)
class Contacts:
    """Result of the experiment.

    Attributes:
        contacts: (3, 3) points to be touched [m].
        path: (T, 3, 3, 3) hub end, knee and tip of each limb [m].
        error: (T, 3) distance of each tip from its contact [m].
        knees: (T, 3) knee angles [rad].
    """

    contacts: np.ndarray
    path: np.ndarray
    error: np.ndarray
    knees: np.ndarray


def tripod() -> Mechanism:
    """Return the hub and its limbs, knees bent."""
    bodies, joints, frames = (
        [Body("hub", 1.0)],
        [Joint("plane", "planar", WORLD, "hub", axis=(0, 0, 1), axis2=(1, 0, 0))],
        [],
    )
    for k, tip in enumerate(TIPS, start=1):
        angle = 2 * pi * k / 3
        out = np.array([cos(angle), sin(angle), 0.0])
        bent = np.array([cos(angle + 1.0), sin(angle + 1.0), 0.0])
        hip, knee = HUB * out, HUB * out + LINK * out
        bodies += [Body(f"thigh_{k}", 0.2, pose=Pose(tuple(hip))), Body(f"shank_{k}", 0.1, pose=Pose(tuple(knee)))]
        joints += [
            Joint(
                f"hip_{k}",
                "revolute",
                "hub",
                f"thigh_{k}",
                position=tuple(hip),
                axis=(0, 0, 1),
                actuated=True,
                limits=((-1.2, 1.2),),
            ),
            Joint(
                f"knee_{k}",
                "revolute",
                f"thigh_{k}",
                f"shank_{k}",
                position=tuple(knee),
                axis=(0, 0, 1),
                actuated=True,
                limits=(KNEE,),
                rest=(1.0,),
            ),
        ]
        frames.append(Frame(tip, f"shank_{k}", Pose(tuple(LINK * bent))))
    return Mechanism("tripod", tuple(bodies), tuple(joints), frames=tuple(frames))


def reach_for_three(weights: tuple[float, float, float], limit_gain: float = 0.5, gain: float = 0.5) -> Contacts:
    """Let the tips reach for their contacts, velocities left alone as in Caron's text."""
    robot = tripod()
    ends, free = MotionLimits.of(robot), np.full(6, np.inf)
    limits = MotionLimits(ends.lower, ends.upper, free, free)
    settings = DifferentialSettings(
        gain=gain, limit_gain=limit_gain, limits=limits, posture_weight=1e-9, least_damping=1e-8
    )
    tracker = DifferentialTracker(robot, settings)
    middle = np.array([0.15, 0.1, 0.0])  # so that the limbs have different ways to go
    contacts = np.array(
        [middle + FAR * REACH * np.array([cos(2 * pi * k / 3), sin(2 * pi * k / 3), 0.0]) for k in (1, 2, 3)]
    )
    wanted = Targets(
        {tip: Target(p, weights=Weights((w,) * 3)) for tip, p, w in zip(TIPS, contacts, weights, strict=True)}
    )
    path, error, knees = np.zeros((STEPS, 3, 3, 3)), np.zeros((STEPS, 3)), np.zeros((STEPS, 3))
    for step in range(STEPS):
        knees[step] = tracker.step(wanted, DT)[1::2]
        for k in range(3):
            places = tracker.frame(f"thigh_{k + 1}"), tracker.frame(f"shank_{k + 1}"), tracker.frame(TIPS[k])
            path[step, k] = [place.position for place in places]
        error[step] = np.linalg.norm(path[step, :, 2] - contacts, axis=1)
    return Contacts(contacts, path, error, knees)


def run() -> Found:
    """Return a row for each of the weights: `error_m`, each tip's final distance from its contact.

    `room_rad`, the knees' from a limit.
    """
    rows = []
    for weights in WEIGHTS:
        tell(f"contacts: weights {weights}")
        found = reach_for_three(weights)
        room = np.minimum(found.knees - KNEE[0], KNEE[1] - found.knees).min()
        rows.append({"weights": weights, "error_m": found.error[-1], "room_rad": float(room)})
    return {"contacts": rows}


def show(found: Found) -> None:
    """Print a line per choice of weights."""
    print(
        "\nthree contacts where two are possible: weights, distance of each tip mm, knees' least room to their"
        " limits rad"
    )
    for row in found["contacts"]:
        weights, tips = (
            " ".join(f"{scale * v:9.3g}" for v in row[key]) for key, scale in (("weights", 1), ("error_m", 1e3))
        )
        print(f"  {weights}   {tips}{row['room_rad']:10.2g}")


EXPERIMENT = Experiment(run=run, show=show)
