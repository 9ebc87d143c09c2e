"""Export of a motion to a file, in a servo chain's counts where the format wants them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import tau
from pathlib import Path

import numpy as np

from ...errors import ClipError, FormatError, ServoError
from ...mechanism.model import Mechanism
from ...motions.format import NEEDS, Companions, CountValues, Follow, ServoCounts
from ...motions.motion import Motion, values_for
from ...motions.registry import format_to_write, load_motion, save_motion
from ...motions.resampling import at_rate
from .chain import ServoChain
from .file import load_chain
from .trajectory import Along

APPROACH = 0.5  # [rad/s] on the way to the first frame


def export_motion(
    motion: Motion,
    path: str | Path,
    format: str | None = None,
    *,
    chain: ServoChain | None = None,
    robot: Mechanism | None = None,
    order: str = "depth",
    header: bool = False,
    rate: float | None = None,
) -> None:
    """Write a motion in a format of `FORMATS`, by the path's extension if left out.

    Formats that hold counts need the chain, others the robot. `rate` [Hz] is that of the samples; the motion's own if
    left out, but in a format that does not say it that of its readers. `order` (depth or breadth) is that of bodies and
    joints in formats that do not name them; with `header` a row of names is above rows of numbers. Raise
    FormatError for an unknown format or one that lacks what it needs, ClipError for a motion that it cannot hold,
    and ServoError if the motion lacks a column of the chain.
    """
    chosen = format_to_write(path, format)
    motion = at_rate(motion, rate)
    servos = servo_counts(motion, chain) if chain is not None and "servos" in chosen.needs else None
    beside = Companions(servos=servos, robot=robot, order=order, header=header, fps=rate)
    save_motion(motion, path, chosen.name, beside)


def export(
    source: str | Path,
    path: str | Path,
    *,
    source_format: str | None = None,
    format: str | None = None,
    servos: str | Path | None = None,
    robot: Mechanism | None = None,
    rate: float | None = None,
    fps: float | None = None,
    order: str = "depth",
    header: bool = False,
    carry: Callable[[Motion, ServoChain], Motion] | None = None,
    follow: Follow | None = None,
) -> None:
    """Write a motion file in another format; after a RobikError nothing is written.

    Formats are known by the source's content and the path's extension if left out. `servos` is a `*.servos.json`,
    for formats that hold counts. With a robot, columns are in the order of its actuators. `rate` [Hz] is that of
    what is written, as in `export_motion`; `fps` [Hz] that of a source that does not say it. `order` (depth
    or breadth) is that of bodies and joints in formats that do not name them; with `header` a row of names is above
    rows of numbers. `carry` returns goals that carry the motion's weight, and `follow` solves sources that hold
    poses of frames.
    """
    chosen = format_to_write(path, format)
    chosen.check_writable(path)
    for need, given in (("servos", servos), ("robot", robot)):
        if need in chosen.needs and given is None:
            raise FormatError(f"{path}: the format {chosen.name} needs {NEEDS[need]}")
    chain = None if servos is None else load_chain(servos)
    beside = Companions(
        robot=robot, fps=fps, order=order, follow=follow, count_values=None if chain is None else count_values(chain)
    )
    motion = load_motion(source, source_format, beside)
    if robot is not None:
        motion = replace(motion, actuators=robot.actuators, values=values_for(robot, motion, source))
    if carry is not None:
        if chain is None or robot is None:
            raise ServoError("goals that carry the weight need the robot and its servos: --robot and --servos")
        motion = carry(motion, chain)
    export_motion(motion, path, chosen.name, chain=chain, robot=robot, order=order, header=header, rate=rate)


def count_values(chain: ServoChain) -> CountValues:
    """Return a function of actuators' names, servos' ids and counts to motors' values, for files that hold counts.

    The function raises ClipError for another chain's.
    """

    def values(names: str, ids: tuple[int, ...], counts: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
        own = ", ".join(chain.actuators)
        if (names, ids) != (own, chain.ids):
            raise ClipError(f"it moves {names} by the servos {ids}; the chain has {own}, {chain.ids}")
        return chain.actuators, chain.values(counts)

    return values


def servo_counts(motion: Motion, chain: ServoChain) -> ServoCounts:
    """Return a motion in the counts of a chain's servos, with their speeds, also on the approach.

    Raise ServoError if the motion lacks a column of the chain.
    """
    speeds = chain.approach_speeds(APPROACH).tolist()
    slow = tuple(servo.velocity_units(speed) for servo, speed in zip(chain.servos, speeds, strict=True))
    return ServoCounts(
        actuators=chain.actuators,
        ids=chain.ids,
        baud_rate=chain.baud_rate,
        counts=chain.counts(Along(motion, chain).at(motion.times - motion.times[0])),
        slow=slow,
        fast=tuple(servo.velocity_units(servo.velocity_limit) for servo in chain.servos),
        pace=tuple(
            max(1, int(units * servo.datasheet.velocity_unit * servo.datasheet.counts_per_turn / tau))
            for servo, units in zip(chain.servos, slow, strict=True)
        ),
    )
