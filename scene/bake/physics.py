"""Test of the present curves in physics: in a process of its own, with the verdict kept in the result."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from bpy.types import Context, Object

from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.physics.motors import chain_drives
from ...robik.physics.plan import planned
from ...robik.physics.process import simulate
from ...robik.physics.trials import draws
from ...robik.physics.verdict import Verdict
from ...robik.servo.chain import ServoChain
from ..long_work.steps import Progress, in_thread
from ..robot.reading import read_robot
from .curves import baked_frames, read_motion


def physics_steps(
    context: Context, root: Object, chain: ServoChain | None, carry: bool, trials: int
) -> Generator[Progress, None, Verdict]:
    """Simulate the robot's curves and keep the verdict; stopped early, nothing has been changed.

    Args:
        context: Blender's.
        root: of the robot.
        chain: its servos; None for motors with the limits of the robot's file.
        carry: whether goals carry the weight.
        trials: how many disturbed trials.

    Raises:
        RobikError: curves, motors or robot cannot be simulated.
    """
    scene, mechanism = context.scene, read_robot(root)
    frames = baked_frames(root, mechanism)
    motion = read_motion(root, mechanism, frames, scene)
    verdicts: list[Verdict] = []
    for share in in_thread(_simulated(mechanism, motion, chain, carry, trials, verdicts)):
        yield Progress(share, "Testing in physics" if share else "Preparing physics", counts=share is not None)
    verdict, result = verdicts[0], root.robik.robot.result
    sample = verdict.falls_at_sample
    fall = 0 if sample is None else round(float(frames[sample]))
    told = "Stands to the end in physics" if verdict.stands else f"Falls at frame {fall} in physics: {verdict.cause}"
    result.physics, result.physics_stands, result.physics_frame = told, verdict.stands, fall
    result.physics_more = "; ".join(verdict.lines()[1:])
    return verdict


def _simulated(
    mechanism: Mechanism, motion: Motion, chain: ServoChain | None, carry: bool, trials: int, verdicts: list[Verdict]
) -> Iterator[float]:
    """Yield the share that is done; the verdict ends up in `verdicts`. Nothing here touches Blender."""
    plan = planned(
        mechanism,
        motion,
        chain_drives(chain, mechanism) if chain else None,
        carry=carry,
        delay=chain.goal_seconds if chain else 0.0,
        source="the bake",
    )
    verdicts.append((yield from simulate(plan, draws(trials))))
