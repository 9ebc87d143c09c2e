"""SDF robots: `*.sdf`, 1.5 to 1.12 (docs/robot-formats.md)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from pathlib import Path

from ...errors import FormatError
from ...mechanism import WORLD, Body, Frame
from ..assembly.assemble import assemble
from ..assembly.connection import based, connected, coupled
from ..assembly.open_joint import OpenJoint
from ..assembly.open_robot import OpenRobot
from ..dialects import unread_loops
from ..imported import Imported, Notes, listed, reading
from ..mesh_files import MeshFiles
from ..names import free_name
from .frames import Frames
from .joints import Joints
from .links import Links

MOST_LINKS = 2000


def load(path: Path, packages: Iterable[Path] = ()) -> Imported:
    """Return the robot in an SDF file; packages are folders of models for `model://`, or folders that hold such."""
    with reading(path):
        return _Reader(path, packages).read()


class _Reader:
    """One file on its way in."""

    def __init__(self, path: Path, packages: Iterable[Path]) -> None:
        self.notes, self.report = Notes(), Notes()
        self.files = MeshFiles(path, packages)
        self.frames = Frames(self.files, self.notes)
        self.title = self.frames.add_file(path)

    def read(self) -> Imported:
        links = self.frames.of_kind("link")
        self.check_loops(links)
        if not 0 < len(links) <= MOST_LINKS:
            raise FormatError(f"it has {len(links)} links; from 1 to {MOST_LINKS} can be read")
        reader = Joints(self.frames, self.notes)
        joints = self._with_motors(reader.read(), reader.second)
        joints += self._static(joints)
        kept = connected(links, joints, set(), self.notes)
        joints = [j for j in joints if {j.parent, j.child} & kept]
        base = next(name for name in links if name in kept)
        joints = based(joints, base, {base: self.frames.placed(base)}, self.report)
        shapes = Links(self.frames, self.files, self.notes)
        bodies = [shapes.read(name, node) for name, node in links.items() if name in kept]
        bodies += [body for body in reader.bodies if body.name in kept]
        robot = OpenRobot(self.title, tuple(bodies), tuple(joints), frames=tuple(self._frames(bodies)))
        return assemble(coupled(robot, reader.couplings, self.notes), self.notes, self.report)

    def check_loops(self, links: Container[str]) -> None:
        """Raise if a loop is closed in a way that is not read."""
        elements = (e for model in self.frames.of_kind("model").values() for e in model.element)
        if unread := list(unread_loops(elements, links)):
            raise FormatError(
                f"{listed(unread)}: it closes a loop in a way that is not read; write it as a <joint> of the model"
            )

    def _with_motors(self, joints: list[OpenJoint], second: dict[str, str]) -> list[OpenJoint]:
        """Return the joints with those actuated that controllers among the plugins name."""
        named = set()
        for _, plugin in self.frames.plugins:
            if "controller" in (plugin.get("filename", "") + plugin.get("name", "")).lower():
                named |= {(e.text or "").strip() for e in plugin.iter("joint_name")}
        said = {j.name: self.frames.renamed.get(second.get(j.name, j.name), second.get(j.name, j.name)) for j in joints}
        return [replace(j, actuated=True) if said[j.name] in named and j.motions else j for j in joints]

    def _static(self, joints: list[OpenJoint]) -> list[OpenJoint]:
        """Joints that hold the links of static models.

        But not those of a floor or a shelf, which stand beside the robot.
        """
        fixed = []
        taken, tied = {joint.name for joint in joints}, {end for joint in joints for end in (joint.parent, joint.child)}
        held = {link: model for model in self.frames.static for link in self.frames.links_in(model)}
        stands = {model for link, model in held.items() if link in tied}
        for link, model in held.items():
            if model in stands or not tied - {WORLD}:
                name = free_name(f"{link}_static", taken)
                fixed.append(OpenJoint(name, "fixed", WORLD, link, near=self.frames.placed(link)))
        return fixed

    def _frames(self, bodies: list[Body]) -> list[Frame]:
        """Return the file's explicit frames, where their names are free."""
        taken = {WORLD, *(body.name for body in bodies)}
        found = []
        for name in self.frames.of_kind("frame"):
            body = self.frames.body(name)
            if body in taken and body != WORLD and name not in taken:
                taken.add(name)
                found.append(Frame(name, body, self.frames.placed(body).inverse() @ self.frames.placed(name)))
        return found
