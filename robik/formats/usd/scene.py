"""A USD stage in metres, kilograms and Z up: where its prims are, and which are rigid bodies."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Pose
from ..imported import Notes
from ..names import free_name

if TYPE_CHECKING:
    from pxr import Sdf, Usd

Y_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
# What turns z to an axis of USD's cylinders.
AXES_OF_Z = {
    "X": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "Y": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "Z": np.eye(3),
}
MOST_BODIES = 2000
HUGE = 1e30  # what exporters write for infinity


class Scene:
    """A stage with its units.

    Attributes:
        meters, kilograms: what one unit of the stage is.
        prims: everything that counts, instances unfolded.
        bodies: the path of each rigid body → its name.
    """

    def __init__(self, stage: Usd.Stage, notes: Notes, report: Notes) -> None:
        from pxr import Usd, UsdGeom, UsdPhysics

        self.stage, self.notes = stage, notes
        self.meters, self.kilograms = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
        if not (1e-9 < self.meters < 1e9 and 1e-9 < self.kilograms < 1e9):
            raise FormatError(f"its units are {self.meters:g} m and {self.kilograms:g} kg, which cannot be meant")
        if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
            report.add("the file does not say its unit of length, which then means centimetres")
        self.up = Y_UP if UsdGeom.GetStageUpAxis(stage) == "Y" else np.eye(3)
        self._transforms = UsdGeom.XformCache(Usd.TimeCode.Default())
        whole = Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))
        self.prims: list[Usd.Prim] = list(whole)
        found = [prim for prim in self.prims if is_body(prim)]
        if len(found) > MOST_BODIES:
            raise FormatError(f"it has {len(found)} rigid bodies; up to {MOST_BODIES} can be read")
        self.bodies = names_of([prim.GetPath() for prim in found], {WORLD})

    def matrix(self, prim: Usd.Prim) -> np.ndarray:
        """Return a prim's coordinates in the world (4, 4), in metres and Z up; the last row is 0 0 0 1.

        Raise FormatError for a number that is not finite.
        """
        T = np.array(self._transforms.GetLocalToWorldTransform(prim)).T
        if not np.isfinite(T).all():
            raise FormatError(f"{prim.GetPath()}: its transform has numbers that are none")
        T[:3] = self.up @ T[:3]
        T[:3] *= self.meters
        return T

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """Each body's pose in the world, as stored."""
        return {
            name: split(self.matrix(self.stage.GetPrimAtPath(path)), str(path))[0] for path, name in self.bodies.items()
        }

    def body_of(self, prim: Usd.Prim) -> str:
        """Return the name of the body that a prim belongs to, or WORLD."""
        while prim and not prim.IsPseudoRoot():
            name = self.bodies.get(prim.GetPath())
            if name is not None:
                return name
            prim = prim.GetParent()
        return WORLD

    def in_body(self, prim: Usd.Prim) -> np.ndarray:
        """Return a prim's coordinates (4, 4) [m] in its body's frame, or in the world where it has no body."""
        body = self.body_of(prim)
        T = self.matrix(prim)
        if body == WORLD:
            return T
        pose = self.poses[body]
        if self.bodies.get(prim.GetPath()) == body:  # itself: its scale alone, to the last digit
            T[:3, :3] = split(T, body)[1]
            T[:3, 3] = 0.0
            return T
        T[:3] = pose.matrix.T @ np.column_stack([T[:3, :3], T[:3, 3] - pose.position])
        return T


def is_body(prim: Usd.Prim) -> bool:
    """Return whether a prim is a rigid body that is not switched off."""
    from pxr import UsdPhysics

    if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        return False
    return UsdPhysics.RigidBodyAPI(prim).GetRigidBodyEnabledAttr().Get() is not False


def schemas_of(prim: Usd.Prim) -> list[str]:
    """Return the names of the API schemas that a prim names.

    `GetAppliedSchemas` leaves out those that this pxr has no plugin for.
    """
    listed = prim.GetMetadata("apiSchemas")
    return list(listed.GetAppliedItems()) if listed else []


def split(T: np.ndarray, where: str) -> tuple[Pose, np.ndarray]:
    """Return a pose without scale, and the stretch (3, 3) that it leaves out of T (4, 4) [m]: T = pose · stretch.

    The stretch is diagonal unless T shears. Raise FormatError where it is zero along an axis.
    """
    A = T[:3, :3]
    lengths = np.linalg.norm(A, axis=0)
    if not lengths.min() > 1e-12 * max(lengths.max(), 1e-12):
        raise FormatError(f"{where}: it is scaled to nothing along an axis")
    R = A / lengths
    if np.linalg.det(R) < 0:
        R = R * [-1, 1, 1]
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-6:
        u, _, v = np.linalg.svd(A)
        R = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
    pose = Pose.of(R, T[:3, 3])
    stretch = pose.matrix.T @ A
    if np.abs(stretch - np.diag(np.diag(stretch))).max() < 1e-6 * lengths.max():
        stretch = np.diag(np.diag(stretch))
    return pose, stretch


def number(prim: Usd.Prim, name: str, default: float) -> float:
    """Return a number among a prim's attributes; ±inf where that is meant, `default` where it is missing."""
    said = _said(prim, name)
    if said is None:
        return default
    try:
        value = float(said)
    except (TypeError, ValueError):
        value = np.nan
    if np.isnan(value):
        raise FormatError(f"{prim.GetPath()}: {name} must be a number, not {said!r}")
    return float(np.sign(value) * np.inf) if abs(value) > HUGE else value


def vector(prim: Usd.Prim, name: str) -> np.ndarray | None:
    """Return a vector (3,) among a prim's attributes; None where it is missing."""
    value = _said(prim, name)
    if value is None:
        return None
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or np.isnan(found).any():
        raise FormatError(f"{prim.GetPath()}: {name} must be three numbers, not {value!r}")
    return found


def rotation(prim: Usd.Prim, name: str, zero: bool = False) -> Pose:
    """Return a rotation among a prim's attributes as a pose without position, the identity where it is missing.

    With `zero`, a quaternion of zeros says that it is missing.
    """
    value = _said(prim, name)
    if value is None:
        return Pose()
    try:
        q = np.array([value.real, *value.imaginary], dtype=float)
    except (AttributeError, TypeError):
        q = np.zeros(0)
    if zero and q.shape == (4,) and not q.any():
        return Pose()
    length = float(np.linalg.norm(q)) if q.shape == (4,) else 0.0
    if not 0.5 < length < 2.0:
        raise FormatError(f"{prim.GetPath()}: {name} must be a unit quaternion, not {value!r}")
    w, x, y, z = q / length
    return Pose((0.0, 0.0, 0.0), (w, x, y, z))


def _said(prim: Usd.Prim, name: str) -> Any:
    """Return an attribute's value, None where it is missing."""
    attribute = prim.GetAttribute(name)
    return attribute.Get() if attribute else None


def names_of(paths: list[Sdf.Path], taken: set[str]) -> dict[Sdf.Path, str]:
    """Return a unique name for each path: its end, with as many parents as tell it from others and from `taken`."""
    names: dict[Sdf.Path, str] = {}
    parts = {path: str(path).strip("/").split("/") for path in paths}
    waiting, count = paths, 1
    while waiting:
        ends: dict[str, list[Sdf.Path]] = {}
        for path in waiting:
            ends.setdefault("/".join(parts[path][-count:]), []).append(path)
        waiting = []
        for name, those in ends.items():
            if len(those) == 1 and name not in taken:
                names[those[0]] = name
                taken.add(name)
            elif count >= len(parts[those[0]]):  # such as a body called world at the top
                names[those[0]] = free_name(name, taken)
                taken.add(names[those[0]])
                waiting += those[1:]
            else:
                waiting += those
        count += 1
    return {path: names[path] for path in paths}
