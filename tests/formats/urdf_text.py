"""Small URDF robots as text, for the tests to write."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robik.mechanism import Mechanism


def write(folder: Path, joints: str = "", links: str = "", head: str = "") -> Path:
    path = folder / "robot.urdf"
    path.write_text(f'{head}<robot name="r"><link name="a"/><link name="b"/>{links}{joints}</robot>', encoding="utf-8")
    return path


def joint(name: str, kind: str, parent: str, child: str, inner: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


def rest_values(mechanism: Mechanism) -> dict[str, np.ndarray]:
    return {j.name: np.array(j.rest) for j in mechanism.joints}


# Loops


def fourbar(
    folder: Path, far: float = 0.3, crank: str = "", names: tuple[str, str] = ("closing_pin_1", "closing_pin_2")
) -> Path:
    """Two rods of 0.2 m that hang from `a`, `far` apart, and a rod of 0.3 m from the first to the second; open as
    stored."""
    z = '<axis xyz="0 0 1"/>'
    joints = (
        joint("left", "continuous" if not crank else "revolute", "a", "b", z + crank)
        + joint("middle", "continuous", "b", "c", f'<origin xyz="0 0.2 0"/>{z}')
        + joint("right", "continuous", "a", "d", f'<origin xyz="{far} 0 0"/>{z}')
        + joint("p", "fixed", "c", names[0], '<origin xyz="0.3 0.01 0"/>')
        + joint("q", "fixed", "d", names[1], '<origin xyz="0 0.2 0"/>')
    )
    return write(folder, joints, "".join(f'<link name="{n}"/>' for n in ("c", "d", *names)))
