"""BVH files of a motion, as different programs write them: units, axes, orders of rotations and position channels."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from robik.mechanism.orientations import rotation
from robik.skeleton.skeleton import SkeletonMotion

TO_FILE = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # Z up → Y up


def bvh_text(
    motion: SkeletonMotion,
    *,
    order: str = "ZXY",
    unit: float = 100.0,
    y_up: bool = True,
    positions: bool = False,
    rotation_first: bool = False,
    newline: str = "\n",
) -> str:
    """Return a motion as BVH.

    Args:
        motion: of bones that are along the world's axes in the rest pose.
        order: of the rotation channels.
        unit: of the file per metre.
        y_up: whether the file has Y up, else Z.
        positions: whether every joint has position channels.
        rotation_first: whether the rotation channels come first.
        newline: between lines.
    """
    axes = TO_FILE if y_up else np.eye(3)
    skeleton = motion.skeleton
    names, parents = skeleton.names, skeleton.parents
    rest = unit * skeleton.positions @ axes.T
    places = unit * motion.positions @ axes.T
    turns = [
        Rotation.from_matrix(axes @ rotation(motion.quaternions[:, k]).as_matrix() @ axes.T) for k in range(len(names))
    ]
    lines, columns = ["HIERARCHY"], []

    def joint(k: int, depth: int) -> None:
        pad, parent = "\t" * depth, int(parents[k])
        moves = parent < 0 or positions
        offset = rest[k] - (rest[parent] if parent >= 0 else 0.0)
        words = [f"{axis}rotation" for axis in order]
        words = [*words, *MOVES] if moves and rotation_first else [*(MOVES if moves else ()), *words]
        lines.append(f"{pad}{'ROOT' if parent < 0 else 'JOINT'} {names[k]}")
        lines.append(pad + "{")
        lines.append(f"{pad}\tOFFSET {' '.join(f'{x:.9f}' for x in offset)}")
        lines.append(f"{pad}\tCHANNELS {len(words)} {' '.join(words)}")
        own = turns[parent].inv() * turns[k] if parent >= 0 else turns[k]
        angles = own.as_euler(order, degrees=True)
        local = turns[parent].inv().apply(places[:, k] - places[:, parent]) if parent >= 0 else places[:, k]
        parts = [angles, local] if moves and rotation_first else [local, angles] if moves else [angles]
        columns.append(np.hstack(parts))
        children = np.flatnonzero(parents == k)
        for child in children:
            joint(int(child), depth + 1)
        if not len(children):
            tip = unit * axes @ (skeleton.tips[k] - skeleton.positions[k])
            lines.extend([f"{pad}\tEnd Site", pad + "\t{", f"{pad}\t\tOFFSET {' '.join(f'{x:.9f}' for x in tip)}"])
            lines.append(pad + "\t}")
        lines.append(pad + "}")

    for root in np.flatnonzero(parents < 0):
        joint(int(root), 0)
    step = float(motion.times[1] - motion.times[0])
    lines += ["MOTION", f"Frames: {len(motion.times)}", f"Frame Time: {step:.10f}"]
    lines += [" ".join(f"{x:.9f}" for x in row) for row in np.hstack(columns)]
    return newline.join(lines) + newline


MOVES = ("Xposition", "Yposition", "Zposition")
