"""Recordings by the content of their files, brought upright and to the size of a human."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import read_npz
from ..errors import ClipError, FormatError
from ..files import read_whole
from ..mechanism.orientations import quaternions, rotation
from ..skeleton.anatomy import named_parts
from ..skeleton.skeleton import Skeleton, SkeletonMotion
from . import archives, bvh, character_file

MOST = 2_000_000_000  # bytes of a recording
CLOSEST = 1e-5  # [s] between two frames: speeds stay numbers
FARTHEST = 1e6  # [m] from the origin: millimetres stay digits
EVEN = 1e-9  # times that differ by less are the same [s]
TALL = 1.7  # [m]: recordings come in units of every kind
LOOKS = 200  # frames at which its size and its upright axis are measured
FLAT = 1e-9  # of its unit: as tall as this, a skeleton has no size
AXES = ("x", "y", "z")
IN_BLENDER = (".fbx", ".glb", ".gltf", ".dae", ".usd", ".usda", ".usdc", ".abc")


def load_recording(path: str | Path, body_model: str | Path | None = None, up: str = "auto") -> SkeletonMotion:
    """Read a recording: BVH, or an npz of joints' positions, of an SMPL body model's poses (AMASS), of a character.

    Args:
        path: of the file.
        body_model: an npz of the SMPL family, for poses; none of them comes with RobIK.
        up: axis of the file that points up, "x", "y" or "z"; "auto" to see it in the motion.

    Returns:
        The character, Z up. One that comes in another unit than metres is made as tall as a human; one that
        `save_recording` wrote is as it was.

    Raises:
        ClipError: names the file, the place in it and what is wrong.
    """
    if up not in ("auto", *AXES):
        raise ClipError(f"the axis that points up is x, y, z or auto, not {up!r}")
    try:
        content = read_whole(path, MOST)
        if bvh.matches(content):
            return _checked(in_metres(upright(bvh.read(content, path), up)))
        if content.startswith(b"PK"):
            arrays = read_npz(content, (), more={*archives.ARRAYS, *character_file.ARRAYS})
            if character_file.matches(arrays):
                return _checked(character_file.read(arrays))
            return _checked(in_metres(upright(archives.read(arrays, body_model), up)))
    except (ClipError, FormatError) as error:
        raise ClipError(f"{path}: {error}") from None
    if Path(path).suffix.lower() in IN_BLENDER:
        raise ClipError(
            f"{path}: this format is read by Blender: import it there, then Auto-Map and Bake, "
            "or Export Character for the shell"
        )
    raise ClipError(f"{path}: no recording that can be read here; there are BVH and npz (joints' positions, AMASS)")


def _checked(motion: SkeletonMotion) -> SkeletonMotion:
    """Return a motion whose frames are apart in time, and that is somewhere on earth.

    Raises:
        ClipError: They are not.
    """
    step = float(np.diff(motion.times).min(initial=np.inf))
    if step < CLOSEST:
        raise ClipError(f"its frames are {step:.3g} s apart; it must be {CLOSEST:g} s or more")
    if (far := float(np.abs(motion.positions).max(initial=0.0))) > FARTHEST:
        frame = int(np.argmax(np.abs(motion.positions).max(axis=(1, 2))))
        raise ClipError(f"a bone is {far:.3g} m away in frame {frame}; it must be {FARTHEST:g} m or less")
    return motion


def upright(motion: SkeletonMotion, up: str = "auto") -> SkeletonMotion:
    """Return a motion with Z up.

    Args:
        motion: With another axis up.
        up: That axis; "auto" to see it in the motion.

    Returns:
        The motion, turned.
    """
    axis = up_axis(motion) if up == "auto" else up
    if axis == "z":
        return motion
    turn = Rotation.from_euler("x", np.pi / 2) if axis == "y" else Rotation.from_euler("y", -np.pi / 2)
    matrix = np.round(turn.as_matrix())
    skeleton = motion.skeleton
    flat = motion.quaternions.reshape(-1, 4)
    turned = quaternions(turn * rotation(flat) * turn.inv()).reshape(motion.quaternions.shape)
    rest = quaternions(turn * rotation(skeleton.quaternions) * turn.inv())
    upright_skeleton = Skeleton(
        skeleton.names, skeleton.parents, skeleton.positions @ matrix.T, rest, skeleton.tips @ matrix.T
    )
    return SkeletonMotion(upright_skeleton, motion.times, motion.positions @ matrix.T, turned)


def up_axis(motion: SkeletonMotion) -> str:
    """Return the axis along which the head is above the feet, in the middle of the motion; Y where names do not say.

    Args:
        motion: The motion, as its file has it.

    Returns:
        "x", "y" or "z".
    """
    way = upward(motion)
    return "y" if way is None else "xyz"[int(np.argmax(way))]


def upward(motion: SkeletonMotion) -> np.ndarray | None:
    """Return the way from feet to head, in the middle of the motion; None where names do not say which they are.

    Args:
        motion: The motion.

    Returns:
        (3,) in its unit.
    """
    parts, index = named_parts(motion.skeleton.names), motion.skeleton.index
    high = [index[name] for part, name in parts.items() if part[0] in ("head", "neck")]
    low = [index[name] for part, name in parts.items() if part[0] in ("foot", "toe")]
    if not high or not low:
        return None
    seen = motion.positions[_looks(motion)]
    way: np.ndarray = np.median(seen[:, high].mean(axis=1) - seen[:, low].mean(axis=1), axis=0)
    return way


def in_metres(motion: SkeletonMotion) -> SkeletonMotion:
    """Return a motion of a character about as tall as a human.

    Args:
        motion: The motion, Z up, in any unit.

    Returns:
        The motion in metres.

    Raises:
        ClipError: The character has no size.
    """
    scale, skeleton = metres_per_unit(motion), motion.skeleton
    if scale == 1.0:
        return motion
    sized = Skeleton(
        skeleton.names, skeleton.parents, scale * skeleton.positions, skeleton.quaternions, scale * skeleton.tips
    )
    return SkeletonMotion(sized, motion.times, scale * motion.positions, motion.quaternions)


def metres_per_unit(motion: SkeletonMotion) -> float:
    """Return what makes a character about as tall as a human; 1 where it is between 0.5 and 3 m tall as it is.

    Args:
        motion: The motion, Z up, in any unit.

    Returns:
        A factor for its lengths.

    Raises:
        ClipError: The character has no size.
    """
    tall = float(np.median(np.ptp(motion.positions[_looks(motion), :, 2], axis=1)))
    if tall < FLAT:
        raise ClipError("its skeleton has no size")
    return 1.0 if 0.5 <= tall <= 3.0 else TALL / tall


def part_of_time(motion: SkeletonMotion, start: float | None, end: float | None) -> SkeletonMotion:
    """Return the samples from `start` to `end`.

    Args:
        motion: The character's motion.
        start: First time [s]; the recording's own if None.
        end: Last time [s]; the recording's own if None.

    Returns:
        These samples, with their times.

    Raises:
        ClipError: No sample lies there.
    """
    times = motion.times
    first, last = times[0] if start is None else start, times[-1] if end is None else end
    kept = np.flatnonzero((times >= first - EVEN) & (times <= last + EVEN))
    if not len(kept):
        raise ClipError(f"no frame lies between {first:g} and {last:g} s; the recording lasts {times[-1]:.4g} s")
    chosen = slice(int(kept[0]), int(kept[-1]) + 1)
    return SkeletonMotion(motion.skeleton, times[chosen], motion.positions[chosen], motion.quaternions[chosen])


def without_first(motion: SkeletonMotion, count: int) -> SkeletonMotion:
    """Return a motion without its first samples, from time 0 on; even times stay even to the last bit.

    Args:
        motion: The character's motion.
        count: Number of samples to leave out.

    Returns:
        The motion, from 0 s on.
    """
    times = motion.times[count:] - motion.times[count]
    even = motion.times[: len(times)] - motion.times[0]
    times = even if np.abs(even - times).max(initial=0.0) < EVEN else times
    return SkeletonMotion(motion.skeleton, times, motion.positions[count:], motion.quaternions[count:])


def _looks(motion: SkeletonMotion) -> np.ndarray:
    return np.unique(np.linspace(0, len(motion.times) - 1, min(LOOKS, len(motion.times))).astype(int))
