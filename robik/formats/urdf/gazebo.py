"""Joints in a URDF's <gazebo> elements, which are SDF's and tie what a tree cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from xml.etree.ElementTree import Element

from ...errors import FormatError
from ...mechanism import WORLD, Pose
from ...mechanism.pose import IDENTITY
from ..assembly.open_joint import OpenJoint
from ..dialects import unread_loops
from ..imported import Notes, listed
from ..mesh_files import MeshFiles
from ..sdf.elements import MODEL, Node, text_of
from ..sdf.frames import TRUE, Frames
from ..sdf.joints import Joints
from ..xml_file import name_of
from .loops import EXTENSION as LOOPS
from .loops import Loops

VERSION = (1, 7)  # of SDF, as libsdformat takes what a URDF has in <gazebo>
OWN_FRAME = "its use_parent_model_frame does not count, as in SDF since 1.7; its axis is in the joint's own frame"


def tying_joints(root: Element, path: Path, beside: Loops, report: Notes) -> list[Element]:
    """Return the joints in <gazebo> elements, unless a side file tells the loops."""
    names = {element.get("name", "") for element in root if element.tag in ("link", "joint")}
    unread = list(unread_loops((*root, *root.findall("gazebo/*")), names))
    tying = root.findall("gazebo/joint")
    if beside.tells_loops:
        for name in (*unread, *(f"<gazebo> joint {joint.get('name', '')!r}" for joint in tying)):
            report.add(f"{Path(beside.source).name} tells the loops, so it was not read", name)
        return []
    if unread:
        raise FormatError(
            f"{listed(unread)}: it closes a loop in a way that is not read; say the robot's loops in"
            f' {path.stem}{LOOPS}, which then count instead ("loops": [] if there are none)'
        )
    for gazebo in root.findall("gazebo[@reference]"):
        if (joint := gazebo.find("joint")) is not None:
            raise FormatError(
                f"joint {joint.get('name', '')!r} stands in <gazebo reference={gazebo.get('reference', '')!r}>, where"
                " Gazebo reads none; put it into a <gazebo> without a reference"
            )
    return tying


def read_gazebo(
    root: Element, path: Path, links: Iterable[str], tree: Collection[OpenJoint], files: MeshFiles, notes: Notes
) -> Joints:
    """Return the reader of the joints in <gazebo> elements, which has the bodies and couplings that they bring."""
    frames = Frames(files, notes)

    def add(kind: str, name: str, pose: Pose, relative_to: str, attached_to: str = "") -> None:
        frames.add(name, Node(kind, root, scope="", pose=pose, relative_to=relative_to, attached_to=attached_to,
                              version=VERSION, file=path))  # fmt: skip

    add("model", MODEL, IDENTITY, "")
    hanging = {joint.child: joint for joint in tree}
    for link in links:
        joint = hanging.get(link)
        if joint is None:
            add("link", link, IDENTITY, MODEL)
        else:
            add("link", link, joint.near @ joint.far.inverse(), MODEL if joint.parent == WORLD else joint.parent)
    for joint in tree:  # which SDF may name as a frame of its child
        if joint.name not in frames.nodes:
            add("frame", joint.name, IDENTITY, joint.child, joint.child)
    content = Element("model")
    content.extend(e for gazebo in root.findall("gazebo") for e in gazebo if e.tag in ("joint", "frame"))
    frames.add_content(content, "", VERSION, path, 0)
    for element in content:
        if any(text_of(axis, "use_parent_model_frame") in TRUE for axis in element.iter()):
            notes.add(OWN_FRAME, name_of(element))
    return Joints(frames, notes, tree)
