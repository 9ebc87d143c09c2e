"""Following of a character: which bone each frame of a robot follows, how much, and with which offset.

Auto-Map says which bone, Fit says how. All numbers are of single precision, as Blender keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..mechanism import Mechanism, Pose
from ..objectives.weights import Weights
from .anatomy import Anatomy, read_anatomy
from .fit import Fitted, FittedTarget, fit
from .mapping import Row
from .overlay import FitTarget
from .placement import Placement
from .reach import Reach
from .single import single, singles, unit
from .skeleton import SkeletonMotion
from .tracks import followed, track

GLANCES = 60  # frames at which the character is looked at
FEW = 12  # enough to tell heads from feet
FIRST = 3  # frames that follow each other at the start: whether it begins with a pose to align by
FLAT = 1e-6  # an offset that is smaller is none [m]
DIRECTED = ("thigh", "shin", "upper arm", "forearm")  # parts of which the direction alone can be followed


@dataclass(frozen=True, kw_only=True)
class Follower:
    """A frame of the robot with what it follows.

    Attributes:
        frame: frame or body of the robot.
        bone: of the character.
        offset: of the frame from the bone, as placed, along the bone's axes [m].
        reach: of a limb with proportions of its own; None where the bone itself is followed.
        weights: of the frame's position and orientation.
    """

    frame: str
    bone: str
    offset: Pose
    reach: Reach | None
    weights: Weights


@dataclass(frozen=True, kw_only=True)
class Following:
    """A character as a robot follows it.

    Attributes:
        followers: frames of the robot, no two the same.
        placement: of the character.
        left_out: number of samples at the start that are a pose to align by.
    """

    followers: tuple[Follower, ...]
    placement: Placement
    left_out: int

    @property
    def weights(self) -> dict[str, Weights]:
        """Weights of the frames."""
        return {follower.frame: follower.weights for follower in self.followers}


def glances(samples: int, count: int) -> np.ndarray:
    """Return increasing indices of samples for a glance at a motion: the first ones, and `count` spread through it."""
    chosen = np.linspace(0, samples - 1, min(count, samples)).astype(int)
    return np.unique([*range(min(FIRST, samples)), *chosen])


def fit_rows(
    mechanism: Mechanism, motion: SkeletonMotion, rows: Iterable[Row], root: Pose, scale: float | None = None
) -> Following:
    """Fit a character's motion to a robot by the rows of Auto-Map; those without a bone are left out.

    `scale` is the robot's size against the character's; None to take it from their bones. Raise ClipError where a row
    names an unknown frame or bone, or no row is left.
    """
    rows = checked(mechanism, motion, [row for row in rows if row.bone])
    seen = _only(motion, glances(len(motion.times), GLANCES))
    anatomy = read_anatomy(motion.skeleton, seen.positions)
    asked = [fit_target(anatomy, row.frame, row.bone, singles(row.position_weight)) for row in rows]
    present = Placement(scale=1.0, stride=1.0, yaw=0.0, location=np.zeros(3), root=root)
    fitted = fit(mechanism, root, motion.skeleton, seen, anatomy, asked, present, scale)
    return Following(
        followers=tuple(_follower(row, target) for row, target in zip(rows, fitted.targets, strict=True)),
        placement=_placement(fitted, present),
        left_out=fitted.left_out,
    )


def checked(mechanism: Mechanism, motion: SkeletonMotion, rows: Sequence[Row]) -> list[Row]:
    """Return the rows; raise ClipError for unknown frames or bones, for a frame with two rows, or without any row."""
    if not rows:
        raise ClipError(
            "neither names nor shape of the skeleton say which part of the body is which; "
            "give a mapping that says which bone each frame of the robot follows"
        )
    frames = [row.frame for row in rows]
    for row in rows:
        if row.frame not in mechanism.frame_names:
            known = ", ".join(mechanism.frame_names)
            raise ClipError(
                f"robot {mechanism.name!r} has no frame {row.frame!r} to follow {row.bone!r}; it has {known}"
            )
        if row.bone not in motion.skeleton.index:
            known = ", ".join(motion.skeleton.names)
            raise ClipError(f"{row.frame!r} cannot follow {row.bone!r}: there is no such bone; there are {known}")
        if frames.count(row.frame) > 1:
            raise ClipError(f"two rows let the frame {row.frame!r} follow; leave one of them out")
    return list(rows)


def fit_target(anatomy: Anatomy, frame: str, bone: str, position_weight: Sequence[float]) -> FitTarget:
    """Return the request to Fit for a frame, by its position weights (3,).

    A part of a limb whose position has no weight is followed by its direction.
    """
    by_direction = not any(position_weight) and anatomy.part(bone)[0] in DIRECTED
    return FitTarget(frame=frame, bone=bone, by_direction=by_direction)


def fitted_weights(orientation_weight: Sequence[float], fitted: FittedTarget) -> tuple[float, ...]:
    """Return weights (3,) of an orientation by axis, for a fitted target.

    Where poses differ only one axis of the direction counts, unless weights were set by axis.
    """
    if fitted.is_alike or len(set(orientation_weight)) != 1:
        return tuple(orientation_weight)
    return tuple(orientation_weight[0] * (axis == fitted.axis) for axis in range(3))


def fitted_offset(fitted: FittedTarget) -> tuple[float, ...]:
    """Return the position (3,) of a target's offset [m]; mere rounding of single precision becomes zero."""
    values = np.array(fitted.offset.position)
    return tuple(np.where(np.abs(values) > FLAT, values, 0.0).tolist())


def character_clip(motion: SkeletonMotion, followers: Iterable[Follower], placement: Placement) -> TargetClip:
    """Return the clip that a robot follows, in its own coordinates; its times begin at 0."""
    tracks = {f.frame: track(*followed(motion, f.bone, f.reach), f.offset, placement) for f in followers}
    return TargetClip(motion.times - motion.times[0], tracks)


def _follower(row: Row, fitted: FittedTarget) -> Follower:
    """Return a row as it is followed, in single precision."""
    weight, by_axis = single(row.weight), singles(fitted_weights(singles(row.orientation_weight), fitted))
    position = np.array(singles(row.position_weight)) * weight
    orientation = np.array(by_axis) * weight
    reach = fitted.reach
    if reach is not None:
        reach = replace(
            reach,
            shares=singles(max(share, 0.01) for share in reach.shares),
            from_hips=singles(reach.from_hips),  # type: ignore[arg-type]
            from_chest=singles(reach.from_chest),  # type: ignore[arg-type]
        )
    offset = Pose(singles(fitted_offset(fitted)), unit(singles(fitted.offset.quaternion)))  # type: ignore[arg-type]
    weights = Weights(position=tuple(position.tolist()), orientation=tuple(orientation.tolist()))
    return Follower(frame=row.frame, bone=row.bone, offset=offset, reach=reach, weights=weights)


def _placement(fitted: Fitted, present: Placement) -> Placement:
    placed = fitted.placement
    return Placement(
        scale=single(placed.scale),
        stride=present.stride,
        yaw=single(placed.yaw),
        location=np.array(singles(placed.location)),
        root=present.root,
    )


def _only(motion: SkeletonMotion, samples: np.ndarray) -> SkeletonMotion:
    return SkeletonMotion(
        motion.skeleton, motion.times[samples], motion.positions[samples], motion.quaternions[samples]
    )
