"""Request for a bake: everything that it needs of the scene, read once before it begins."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from bpy.types import Object, PropertyGroup, Scene

from ...robik.mechanism import Mechanism
from ...robik.objectives.pose_prior import PosePrior
from ...robik.objectives.settings import Settings
from ...robik.retarget import baking
from ...robik.retarget.blend import shares
from ..balance.centre_of_mass import Balance, read_balance, with_give
from ..character.asked import weights_of
from ..character.mapping import CharacterMapping, read_mapping
from ..character.sampling import frame_range, planned_range
from ..robot.chain import servo_accelerations
from ..robot.reading import read_moving_parts
from .curves import baked_frames, base_curve, has_keys, read_motion_at
from .example import example_prior
from .surroundings import Surroundings, read_surroundings

AROUND = 3  # frames around a range that its ends go on from: a jerk is over four


@dataclass(frozen=True, kw_only=True, eq=False)
class PresentMotion:
    """Motion that the robot's curves hold at the frames of a bake which is blended into it.

    Attributes:
        values: (T, A) of the motors [rad or m].
        base: positions (T, 3) [m] and unit quaternions (T, 4) of a floating base; None for a robot on the ground.
        share: (T,) of the bake: 0 where the present motion stays, 1 where it is replaced.
        before, after: (3, A) of the motors in the frames around, where it goes on; else (0, A).
    """

    values: np.ndarray
    base: tuple[np.ndarray, np.ndarray] | None
    share: np.ndarray
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class BakeRequest:
    """Request for a bake, read from the scene once.

    Attributes:
        mechanism: the robot.
        mapping: what its frames follow.
        balance: of the clip.
        frames: (T,) of the scene to bake, with fractions between whole frames.
        planned: (P,) frames that balance looks at; `frames` is a part of it.
        settings: of the solver.
        prior: what poses the example makes likely; None without one.
        prior_weight: of the pull towards them.
        present: what the bake is blended into; None where it is not blended.
        surroundings: what is around the robot.
        keeps_other_keys: whether keys outside of the frames stay.
    """

    mechanism: Mechanism
    mapping: CharacterMapping
    balance: Balance
    frames: np.ndarray
    planned: np.ndarray
    settings: Settings
    prior: PosePrior | None
    prior_weight: float
    present: PresentMotion | None
    surroundings: Surroundings
    keeps_other_keys: bool


def read_request(root: Object, scene: Scene) -> BakeRequest:
    """Read what a robot's panels ask for.

    Raises:
        RobikError: a mapping, a range, an example or the robot is wrong.
    """
    mechanism, bake = read_moving_parts(root), root.robik.robot.bake
    frames, prior = frame_range(scene, bake), example_prior(bake.example, mechanism)
    mapping = read_mapping(root, mechanism)
    balance = with_give(read_balance(root, mechanism, mapping), root, mechanism, scene)
    keeps_other_keys = bool(bake.use_range) and has_keys(root, mechanism)
    return BakeRequest(
        mechanism=mechanism,
        mapping=mapping,
        balance=balance,
        frames=frames,
        planned=planned_range(scene, bake) if balance.needs_contacts else frames,
        settings=solver_settings(
            mechanism, mapping, balance, read_bake_settings(root, scene), has_example=prior is not None
        ),
        prior=prior,
        prior_weight=float(bake.example_weight),
        present=_present_motion(root, mechanism, frames, bake.blend) if keeps_other_keys and bake.blend else None,
        surroundings=read_surroundings(root, scene, mapping.targets),
        keeps_other_keys=keeps_other_keys,
    )


def _present_motion(root: Object, mechanism: Mechanism, frames: np.ndarray, blend: int) -> PresentMotion:
    """Return what the robot's curves hold, to come out of it and go back into it where it goes on."""
    first, last = baked_frames(root, mechanism)[[0, -1]]
    at_start, at_end = first < frames[0], last > frames[-1]
    step = frames[1] - frames[0] if len(frames) > 1 else 1.0
    around = step * np.arange(1, AROUND + 1)
    return PresentMotion(
        values=read_motion_at(root, mechanism, frames),
        base=base_curve(root, mechanism, frames),
        share=shares(frames, blend, at_start, at_end),
        before=read_motion_at(root, mechanism, frames[0] - around[::-1][: AROUND * at_start]),
        after=read_motion_at(root, mechanism, frames[-1] + around[: AROUND * at_end]),
    )


def solver_settings(
    mechanism: Mechanism,
    mapping: CharacterMapping,
    balance: Balance,
    bake: baking.BakeSettings,
    has_example: bool = False,
) -> Settings:
    """Return the solver's settings that targets, balance and bake ask for.

    An example's poses move motors, too, that no target moves.
    """
    weights = {target.frame: target.weights for target in mapping.targets}
    others = {name for target in mapping.asked for name in (target.frame, target.other) if name}
    return baking.solver_settings(
        mechanism,
        weights,
        balance,
        bake,
        weights_of(mechanism, mapping.asked),
        holds=_holds_on(mechanism, mapping),
        others=None if has_example else others,
    )


def _holds_on(mechanism: Mechanism, mapping: CharacterMapping) -> set[str]:
    """Return the frames that are no feet and have contacts set by hand."""
    return {t.frame for t in mapping.targets if t.phases and not mechanism.frame(t.frame).is_foot}


def read_bake_settings(root: Object, scene: Scene) -> baking.BakeSettings:
    """Return the settings of a bake's panel, with what the robot's servos can do.

    Raises:
        ServoError, FormatError: the servos' file is not what it should be.
    """
    return replace(of_panel(root.robik.robot.bake), servo_acceleration=servo_accelerations(root, scene))


def of_panel(bake: PropertyGroup) -> baking.BakeSettings:
    """Return the settings of a bake's panel, whose properties have the names of the fields."""
    names = {field.name for field in fields(baking.BakeSettings)} - {"servo_acceleration"}
    return baking.BakeSettings(**{name: getattr(bake, name) for name in names})
