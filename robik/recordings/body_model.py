"""Poses of a body model of the SMPL family (SMPL, SMPL-H, SMPL-X), as AMASS holds them, with a model the user supplies.

    J = R (T + S β),    x_k = x_p + Q_p (J_k − J_p),    Q_k = Q_p exp(θ_k)

R is the model's joint regressor, T its template, S its shape directions, β the shape; p is the parent of joint k and θ
its axis times angle (Loper et al., SMPL, 2015). The model is read from an `.npz`; a pickle is not opened.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import listed, numbers, read_npz
from ..errors import ClipError, FormatError
from ..files import read_whole
from ..mechanism.orientations import quaternions
from ..skeleton.skeleton import Skeleton, SkeletonMotion

# The joints of the body, which all models of the family begin with.
NAMES = (
    "Pelvis", "L_Hip", "R_Hip", "Spine1", "L_Knee", "R_Knee", "Spine2", "L_Ankle", "R_Ankle", "Spine3", "L_Foot",
    "R_Foot", "Neck", "L_Collar", "R_Collar", "Head", "L_Shoulder", "R_Shoulder", "L_Elbow", "R_Elbow", "L_Wrist",
    "R_Wrist",
)  # fmt: skip
RECORDING = ("poses", "root_orient", "pose_body", "trans", "betas")
MODEL = ("J_regressor", "v_template", "shapedirs", "kintree_table")
MOST = 2_000_000_000  # bytes of a model


def read(arrays: dict[str, np.ndarray], rate: float, model: str | Path) -> SkeletonMotion:
    """Return the motion of the body's joints, without fingers and face.

    Arrays are `poses` (T, 3 K) or `root_orient` and `pose_body`, `trans` (T, 3), `betas`; a ClipError names the one
    that is missing or wrong.
    """
    poses = _poses(arrays)
    if "trans" not in arrays:
        raise ClipError(f"no array trans with the body's way; there are {listed(arrays)}")
    way = numbers(arrays, "trans", (len(poses), 3))
    betas = numbers(arrays, "betas").ravel() if "betas" in arrays else np.zeros(0)
    rest, parents = _joints(model, betas)
    turns: list[Rotation] = []
    positions = np.zeros((len(poses), len(NAMES), 3))
    for k in range(len(NAMES)):
        own, above = Rotation.from_rotvec(poses[:, k]), int(parents[k])
        turns.append(turns[above] * own if above >= 0 else own)
        step = rest[k] - rest[above]
        positions[:, k] = positions[:, above] + turns[above].apply(step) if above >= 0 else rest[k] + way
    tips = np.array([_tip(rest, parents, k) for k in range(len(NAMES))])
    skeleton = Skeleton(NAMES, parents, rest, np.tile([1.0, 0.0, 0.0, 0.0], (len(NAMES), 1)), tips)
    oriented = np.stack([quaternions(turn) for turn in turns], axis=1)
    return SkeletonMotion(skeleton, np.arange(len(poses)) / rate, positions, oriented)


def _poses(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return axis times angle of the body's joints (T, 22, 3)."""
    names = ("poses",) if "poses" in arrays else ("root_orient", "pose_body")
    if missing := [name for name in names if name not in arrays]:
        raise ClipError(f"no array {', '.join(missing)} with rotations of joints; there are {listed(arrays)}")
    tables = [numbers(arrays, name, (None, None)) for name in names]
    if len({len(table) for table in tables}) > 1:
        raise ClipError(f"{' and '.join(names)} have different numbers of frames: {[len(table) for table in tables]}")
    poses = np.hstack(tables)
    if poses.shape[1] < 3 * len(NAMES) or poses.shape[1] % 3 or not len(poses):
        raise ClipError(f"poses must have at least {3 * len(NAMES)} columns, 3 per joint, not the shape {poses.shape}")
    return poses.reshape(len(poses), -1, 3)[:, : len(NAMES)]


def _joints(model: str | Path, betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where a body's joints rest (22, 3) [m], and their parents (22,)."""
    try:
        return _rested(read_npz(read_whole(model, MOST), MODEL), betas)
    except (ClipError, FormatError) as error:
        raise ClipError(f"the body model {model}: {error}") from None


def _rested(arrays: dict[str, np.ndarray], betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    regressor = numbers(arrays, "J_regressor", (None, None))
    joints, vertices = regressor.shape
    template = numbers(arrays, "v_template", (vertices, 3))
    shapes = numbers(arrays, "shapedirs", (vertices, 3, None))
    table = numbers(arrays, "kintree_table", (2, None))
    if joints < len(NAMES) or table.shape[1] < len(NAMES):
        raise ClipError(f"it has {joints} joints; a body of the SMPL family has at least {len(NAMES)}")
    parents = table[0, : len(NAMES)].copy()
    parents[(parents < 0) | (parents >= table.shape[1])] = -1  # the root's is written as 2³² − 1
    if (above := np.flatnonzero(parents >= np.arange(len(NAMES)))).size:
        raise ClipError(f"kintree_table must name a joint's parent before it; that of {NAMES[above[0]]} comes later")
    count = min(len(betas), shapes.shape[2])
    rest = regressor @ (template + shapes[:, :, :count] @ betas[:count])
    return rest[: len(NAMES)], parents.astype(int)


def _tip(rest: np.ndarray, parents: np.ndarray, joint: int) -> np.ndarray:
    children = rest[parents == joint]
    return children.mean(axis=0) if len(children) else 1.5 * rest[joint] - 0.5 * rest[parents[joint]]
