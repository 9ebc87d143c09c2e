"""Small UsdPhysics robots as text, for the tests to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.mechanism import WORLD, Joint, Mechanism

pytest.importorskip("pxr", reason="needs usd-core")


# Single statements, in files of our own


def usda(inner: str, head: str = 'metersPerUnit = 1\nupAxis = "Z"') -> str:
    return f'#usda 1.0\n(\ndefaultPrim = "r"\n{head}\n)\ndef Xform "r"\n{{\n{inner}\n}}\n'


def body(
    name: str, at: tuple[float, float, float] = (0, 0, 0), inner: str = "double physics:mass = 1", kind: str = "Xform"
) -> str:
    return f"""def {kind} "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        {inner}
        double3 xformOp:translate = {tuple(map(float, at))}
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    """


def joint(name: str, kind: str, a: str, b: str, inner: str = "", schemas: tuple[str, ...] = ()) -> str:
    ends = [f"rel physics:body{i} = </r/{end}>" for i, end in enumerate((a, b)) if end != WORLD]
    applied = f"prepend apiSchemas = [{', '.join(f'{chr(34)}{s}{chr(34)}' for s in schemas)}]" if schemas else ""
    lines = "\n        ".join([*ends, *inner.split(";")])
    return f'def Physics{kind} "{name}" ({applied})\n    {{\n        {lines}\n    }}\n    '


def write(folder: Path, text: str, name: str = "robot.usda") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def only(robot: Mechanism, name: str) -> Joint:
    return next(j for j in robot.joints if j.name == name)


TWO = body("a") + body("b", (1, 0, 0))
HOLD = joint("hold", "FixedJoint", WORLD, "a")


def d6(free: dict[str, tuple[float, float]], locked: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    lines = [f"float limit:{k}:physics:low = {lo};float limit:{k}:physics:high = {hi}" for k, (lo, hi) in free.items()]
    lines += [f"float limit:{k}:physics:low = 1;float limit:{k}:physics:high = -1" for k in locked]
    return ";".join(lines), tuple(f"PhysicsLimitAPI:{k}" for k in (*free, *locked))


ALL_SIX = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
