"""Small SDF robots as text, for the tests to write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from robik.mechanism import Joint, Mechanism


def sdf(inner: str, version: str = "1.9", name: str = "r") -> str:
    return f'<?xml version="1.0"?><sdf version="{version}"><model name="{name}">{inner}</model></sdf>'


def link(name: str, pose: str = "", inner: str = "", relative_to: str = "") -> str:
    relative = f' relative_to="{relative_to}"' if relative_to else ""
    inertial = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    return f'<link name="{name}"><pose{relative}>{pose}</pose>{inner or inertial}</link>'


def joint(name: str, kind: str, parent: str, child: str, inner: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inner}</joint>'


def axis(xyz: str, limit: str = "", tag: str = "axis", inner: str = "", expressed_in: str = "") -> str:
    where = f' expressed_in="{expressed_in}"' if expressed_in else ""
    return f"<{tag}><xyz{where}>{xyz}</xyz><limit>{limit}</limit>{inner}</{tag}>"


def write(folder: Path, text: str, name: str = "model.sdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def only(robot: Mechanism, name: str) -> Joint:
    return next(j for j in robot.joints if j.name == name)


def matrix(text: str) -> np.ndarray:
    """A pose as the format writes it, by SciPy."""
    x, y, z, *rpy = map(float, text.split())
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), (x, y, z)
    return T


HOLD = joint("hold", "fixed", "world", "a")
# Frames. The numbers of the first test are what Drake's reading of the same file says too.
FRAMES = (
    link("a", "1 2 3 0.1 0.2 0.3")
    + '<frame name="f" attached_to="a"><pose>0 0 1 0 0 0.5</pose></frame>'
    + '<frame name="g"><pose relative_to="f">1 0 0 0 0 0</pose></frame>'
    + link("b", "0 1 0 0.3 0 0", relative_to="g")
    + link("c", "0 0 1 0 0 0", relative_to="j")
    + joint(
        "j",
        "revolute",
        "f",
        "b",
        '<pose relative_to="g">0 0.5 0 0 0 0.2</pose>' + axis("0 1 0", expressed_in="__model__"),
    )
    + joint("k", "prismatic", "b", "c", axis("1 0 0"))
    + '<model name="arm" placement_frame="hand"><pose relative_to="c">0 0 0.5 0 0.4 0</pose>'
    + link("upper", "1 0 0 0 0 0")
    + link("hand", "0 2 0 0 0 0.7", relative_to="upper")
    + joint("elbow", "revolute", "upper", "hand", axis("0 0 1"))
    + "</model>"
    + joint("l", "fixed", "c", "arm::hand")
    + HOLD
)
