"""MJCF's <attach>: a body of another model, with all that belongs to it, under names of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from xml.etree.ElementTree import Element

from ...errors import FormatError
from ...mechanism import WORLD, Body, Frame, Pose
from ...mechanism.pose import IDENTITY
from ..assembly.open_robot import OpenJoint, OpenRobot
from ..mesh_files import MeshFiles
from ..xml_file import read_xml
from .file import MjcfFile, Placed


@dataclass(frozen=True)
class Model:
    """Another file, read.

    Attributes:
        robot: all of it; the joints of its tree, one to a body, come first and in MuJoCo's order.
        folder: where its meshes are seen from.
        at: body → its pose in the world where the file draws it.
        sites: site → its body and its pose there.
        drawn: joint with one motion → what it reads where the file draws it.
        held: joint → where an equality holds it, though it can move in `robot` yet.
        around: ("body" or "site", its name) → where it stands in its file.
        loose: bodies, the world too, and frames in them ("" for any) that hold geoms.
    """

    robot: OpenRobot
    folder: Path
    at: Mapping[str, Pose]
    sites: Mapping[str, tuple[str, Pose]]
    drawn: Mapping[str, float]
    held: Mapping[str, float]
    around: Mapping[tuple[str, str], Placed] = field(default_factory=dict)
    loose: Set[tuple[str, str]] = frozenset()

    @property
    def tree(self) -> tuple[OpenJoint, ...]:
        """The joints that bodies hang on."""
        return self.robot.joints[: len(self.robot.bodies)]

    @property
    def closers(self) -> tuple[OpenJoint, ...]:
        """The joints that close loops."""
        return self.robot.joints[len(self.robot.bodies) :]


def model_file(file: MjcfFile, files: MeshFiles, wanted: str, parent: str) -> Path:
    """Return the path of a model's file: called `wanted` among the assets, or by the model itself.

    A FormatError names `parent`, which attaches it.
    """
    assets = [e for section in file.root.findall("asset") for e in section.findall("model")]
    model = next((e for e in assets if (e.get("name") or Path(e.get("file", "")).stem) == wanted), None)
    if model is None:
        model = next((e for e in assets if not e.get("name") and _own_name(e, files) == wanted), None)
    if model is None:
        raise FormatError(
            f"body {parent!r}: it attaches model {wanted[:60]!r}, but the file's assets have none of that name"
        )
    try:
        found, is_there = files.find(model.get("file", ""))
    except FormatError as error:
        raise FormatError(f"model {wanted!r} cannot be followed: {error}") from None
    if not is_there:
        raise FormatError(f"model {wanted!r}, {model.get('file', '')[:80]!r}: there is no such file")
    return (files.folder / found).resolve()


def _own_name(asset: Element, files: MeshFiles) -> str:
    """Return what the file of an asset calls its model; nothing where it cannot be read."""
    try:
        found, is_there = files.find(asset.get("file", ""))
        return read_xml(files.folder / found).get("model", "") if is_there else ""
    except FormatError:
        return ""  # which is said where that model is asked for by its file's name


def _seen_from(body: Body, base: str) -> Body:
    """Return a body whose meshes are named from another folder, from which `base` leads to theirs."""
    visuals = (
        replace(v, file=(PurePath(base) / v.file).as_posix()) if v.shape == "mesh" and base != "." else v
        for v in body.visuals
    )
    return replace(body, visuals=tuple(visuals))


@dataclass(frozen=True)
class Part:
    """Part of a model that is attached.

    Attributes:
        parent: the body of the model that it stands in, or the world.
        base: the pose in that body of what is put into the attaching frame.
        bodies: all of its bodies.
        tops: joints that it hangs on.
        sites: those that stand in `parent` itself.
        is_loose: whether geoms stand there, too.
    """

    parent: str
    base: Pose
    bodies: set[str]
    tops: tuple[OpenJoint, ...]
    sites: frozenset[str] = frozenset()
    is_loose: bool = False


def part_of(model: Model, attach: Element) -> Part:
    """Return what an <attach> means: a body, without the frames around it, a frame, or all that the world holds."""
    body, frame = attach.get("body"), attach.get("frame")
    if body is not None:
        if ("body", body) not in model.around:
            raise FormatError(f"it attaches body {body[:60]!r}, which the model does not have")
        kept, top = _hanging_on(model, body)
        return Part(top.parent, model.around["body", body].pose, kept, (top,))
    inside = {key: placed for key, placed in model.around.items() if frame is None or frame in dict(placed.frames)}
    names = [name for kind, name in inside if kind == "body"]
    if not names:
        raise FormatError(f"it attaches {'a model' if frame is None else f'frame {frame[:60]!r}'} that has no body")
    hanging = [_hanging_on(model, name) for name in names]
    bodies = set[str]().union(*(kept for kept, _ in hanging))
    tops = {id(top): top for _, top in hanging if top.parent not in bodies}
    parent = next(iter(tops.values())).parent
    base = IDENTITY if frame is None else dict(inside["body", names[0]].frames)[frame]
    sites = frozenset(name for kind, name in inside if kind == "site" and model.sites[name][0] == parent)
    return Part(parent, base, bodies, tuple(tops.values()), sites, (parent, frame or "") in model.loose)


def attached(model: Model, part: Part, prefix: str, parent: str, place: Pose, world: Pose, folder: Path) -> Model:
    """Return the part of a model that hangs on one of its bodies, attached to the robot's body `parent`.

    Without a body it is all of the model. Names get the prefix, meshes are named relative to `folder`. `place` is
    the pose in the parent of the frame that the body stands in, `world` the parent's in the world. Raise
    FormatError if there is no such body, or it is free and the parent is not the world.
    """
    robot, kept, tops = model.robot, part.bodies, set(map(id, part.tops))
    place = place @ part.base.inverse()
    for top in part.tops:
        if top.type == "free" and parent != WORLD:
            raise FormatError(f"it attaches body {top.child!r}, which is free; only a body in the world itself can be")
    back = model.at[part.parent].inverse()

    def named(name: str) -> str:
        return name if name == WORLD else prefix + name

    def moved(joint: OpenJoint) -> OpenJoint:
        renamed = replace(joint, name=named(joint.name), parent=named(joint.parent), child=named(joint.child))
        return replace(renamed, parent=parent, near=place @ joint.near) if id(joint) in tops else renamed

    base = os.path.relpath(model.folder, folder)
    joints = tuple(moved(j) for j in robot.joints if id(j) in tops or {j.parent, j.child} <= kept)
    moving = {name for j in joints for name in j.coordinate_names}
    couplings = (replace(c.renamed(named), name=named(c.name)) for c in robot.couplings)
    own = {name: (parent, place @ model.sites[name][1]) for name in part.sites}
    frames = [Frame(named(f.name), named(f.body), f.pose) for f in robot.frames if f.body in kept]
    frames += [Frame(named(name), on, pose) for name, (on, pose) in own.items() if on != WORLD]
    return Model(
        OpenRobot(
            robot.name,
            tuple(replace(_seen_from(b, base), name=named(b.name)) for b in robot.bodies if b.name in kept),
            joints,
            frames=tuple(frames),
            couplings=tuple(c for c in couplings if moving.issuperset(c.ends)),
        ),
        folder,
        {named(name): world @ place @ back @ pose for name, pose in model.at.items() if name in kept},
        {named(name): (named(on), pose) for name, (on, pose) in model.sites.items() if on in kept}
        | {named(name): site for name, site in own.items()},
        {named(name): value for name, value in model.drawn.items() if named(name) in moving},
        {named(name): value for name, value in model.held.items() if named(name) in moving},
    )


def _hanging_on(model: Model, body: str) -> tuple[set[str], OpenJoint]:
    """Return a body with all that hangs on it, and the joint that it hangs on itself, the first of several."""
    hangs_on = model.robot.hangs_on
    kept, top = {body}, hangs_on[body]
    while top.parent != WORLD and top.parent not in model.at:  # a massless body between several joints
        kept.add(top.parent)
        top = hangs_on[top.parent]
    for child, joint in hangs_on.items():
        if joint.parent in kept:
            kept.add(child)
    return kept, top
