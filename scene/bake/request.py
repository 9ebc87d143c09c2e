"""Request for a bake: everything that it needs of the scene, read once before it begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from bpy.types import Object, PropertyGroup, Scene

from ...robik.bake import solver_settings as of_library
from ...robik.bake.request import BakeRequest
from ...robik.bake.settings import BakeSettings
from ...robik.clip_solver.sections import HELD
from ...robik.clips.clip import TargetClip
from ...robik.collision.apart import Walls
from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.objectives.pose_prior import PosePrior
from ...robik.objectives.settings import Settings
from ...robik.retargeting.blend import shares
from ...robik.retargeting.own_range import OwnRange
from ..balance.centre_of_mass import Balance, read_balance, with_give
from ..character.asked import weights_of
from ..character.mapping import CharacterMapping, read_mapping
from ..character.sampling import frame_range, planned_range
from ..motion import SAME, base_body, is_moved, motion_frames, read_motion
from ..robot.chain import servo_accelerations
from ..robot.reading import read_moving_parts
from . import by_tens
from .apart import read_walls
from .curves import has_keys
from .example import example_prior
from .surroundings import Surroundings, read_surroundings


@dataclass(frozen=True, kw_only=True, eq=False)
class PresentMotion:
    """Motion that the robot's curves hold at the frames that a bake of an own range solves.

    Attributes:
        frames: (T,) of the scene.
        motion: it, with the base of a robot that floats, where that is keyed.
        share: (T,) of the bake: 0 where the present motion stays, 1 where it is replaced.
        own_range: the frames that are baked among them, where look-ahead leads into them and back; else None.
    """

    frames: np.ndarray
    motion: Motion
    share: np.ndarray
    own_range: OwnRange | None


@dataclass(frozen=True, kw_only=True, eq=False)
class SceneRequest:
    """Request for a bake, read from the scene once.

    Attributes:
        mechanism: the robot.
        mapping: what its frames follow.
        balance: of the clip.
        frames: (T,) of the scene to bake, with fractions between whole frames.
        solved: (S,) frames that the solver looks at: `frames`, and those around an own range that it goes on from.
        planned: (P,) frames that balance looks at; `solved` is a part of it.
        settings: of the bake.
        walls: makes what keeps the robot's bodies apart; None where they are not to be kept apart.
        prior: what poses the example makes likely; None without one.
        prior_weight: of the pull towards them.
        present: what the bake comes out of and goes back into; None where nothing goes on.
        surroundings: what is around the robot.
        keeps_other_keys: whether keys outside of the frames stay.
    """

    mechanism: Mechanism
    mapping: CharacterMapping
    balance: Balance
    frames: np.ndarray
    solved: np.ndarray
    planned: np.ndarray
    settings: BakeSettings
    walls: Callable[[], Walls | None] | None
    prior: PosePrior | None
    prior_weight: float
    present: PresentMotion | None
    surroundings: Surroundings
    keeps_other_keys: bool

    def of(self, clip: TargetClip) -> BakeRequest:
        """Return the bake of what was sampled at the planned frames, without anything of Blender's."""
        first, present = int(np.searchsorted(self.planned, self.solved[0])), self.present
        own = None if present is None else present.own_range
        return BakeRequest(
            mechanism=self.mechanism,
            clip=clip,
            weights={target.frame: target.weights for target in self.mapping.targets},
            balance=self.balance.plain,
            settings=self.settings,
            objectives=weights_of(self.mechanism, self.mapping.asked),
            walls=self.walls,
            solved=(first, first + len(self.solved)),
            own_range=own,
            share=None if present is None or own is None else present.share,
            prior=self.prior,
            prior_weight=self.prior_weight,
        )


def read_request(root: Object, scene: Scene) -> SceneRequest:
    """Read from a robot's panels what to bake, and how."""
    mechanism, bake = read_moving_parts(root), root.robik.robot.bake
    frames, prior = frame_range(scene, bake), example_prior(bake.example, mechanism)
    mapping, asked = read_mapping(root, mechanism), read_bake_settings(root, scene)
    balance = with_give(read_balance(root, mechanism, mapping), root, mechanism, scene)
    keeps_other_keys = bool(bake.use_range) and has_keys(root, mechanism)
    settings = solver_settings(mechanism, mapping, balance, asked)
    present = _present_motion(root, mechanism, frames, settings, scene) if keeps_other_keys else None
    solved = frames if present is None else present.frames
    return SceneRequest(
        mechanism=mechanism,
        mapping=mapping,
        balance=balance,
        frames=frames,
        solved=solved,
        planned=planned_range(scene, bake, solved) if balance.needs_contacts else solved,
        settings=asked,
        walls=read_walls(root, mechanism) if asked.keep_apart else None,
        prior=prior,
        prior_weight=by_tens.weight_of(bake.likeness),
        present=present,
        surroundings=read_surroundings(root, scene, mapping.targets),
        keeps_other_keys=keeps_other_keys,
    )


def _around(frames: np.ndarray, first: float, last: float) -> np.ndarray:
    """Return frames with those before and after them within others, as many as look-ahead goes on from."""
    step = frames[1] - frames[0] if len(frames) > 1 else 1.0
    before, after = frames[0] - step * np.arange(HELD, 0, -1), frames[-1] + step * np.arange(1, HELD + 1)
    return np.concatenate([before[before >= first - SAME], frames, after[after <= last + SAME]])


def _present_motion(
    root: Object, mechanism: Mechanism, frames: np.ndarray, settings: Settings, scene: Scene
) -> PresentMotion | None:
    """Return the robot's present curves, which an own range leaves and enters again; None where it does neither.

    Raise RobikError for a cyclic clip, which cannot enter them again.
    """
    first, last = motion_frames(root, mechanism, scene)[[0, -1]]
    at_start, at_end, blend = first < frames[0], last > frames[-1], root.robik.robot.bake.blend
    if not (at_start or at_end):
        return None
    if settings.cyclic:
        raise RobikError(
            f"a cyclic clip ends where it begins, but frames {frames[0]:g} to {frames[-1]:g} lead back into the keys"
            " around them; switch off Cyclic, or Own Range"
        )
    base = base_body(root, mechanism)
    is_known = base is None or is_moved(base)
    leads = settings.look_ahead and settings.acceleration_limit is not None and is_known
    solved = _around(frames, first, last) if leads else frames
    begin = int(np.searchsorted(solved, frames[0]))
    motion, share = read_motion(root, mechanism, solved, scene), np.zeros(len(solved))
    share[begin : begin + len(frames)] = shares(frames, blend, at_start, at_end)
    own = OwnRange(begin, begin + len(frames) - 1, motion, "what is keyed around") if leads else None
    return PresentMotion(frames=solved, motion=motion, share=share, own_range=own) if leads or blend else None


def solver_settings(
    mechanism: Mechanism,
    mapping: CharacterMapping,
    balance: Balance,
    bake: BakeSettings,
    has_example: bool = False,
) -> Settings:
    """Return the solver's settings that targets, balance and bake ask for.

    An example's poses move motors, too, that no target moves.
    """
    weights = {target.frame: target.weights for target in mapping.targets}
    others = {name for target in mapping.asked for name in (target.frame, target.other) if name}
    return of_library.solver_settings(
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


def read_bake_settings(root: Object, scene: Scene) -> BakeSettings:
    """Return the settings of a bake's panel, with the limits of the robot's servos.

    Raise ServoError or FormatError if the servos' file is not what it should be.
    """
    return replace(of_panel(root.robik.robot.bake), servo_acceleration=servo_accelerations(root, scene))


def of_panel(bake: PropertyGroup) -> BakeSettings:
    """Return the settings of a bake's panel, whose properties have the names of the fields."""
    names = {field.name for field in fields(BakeSettings)} - {"servo_acceleration"}
    values = {name: getattr(bake, name) for name in names}
    values |= {name: by_tens.weight_of(values[name]) for name in by_tens.WEIGHTS}
    return BakeSettings(**values | {"velocity_share": bake.velocity_share / 100.0})
