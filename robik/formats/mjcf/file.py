"""An MJCF file as MuJoCo reads it, before a robot is made of it.

Includes put in place, default classes, the compiler's settings.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import Pose
from ...mechanism.constraints import rotation_vector_matrix
from ...mechanism.pose import quaternion_matrix
from ..mesh_files import MeshFiles
from ..xml_file import numbers, read_xml
from .replicate import open_replicates

MOST_FILES = 200
MOST_CLASSES = 10_000
DEEPEST = 500  # frames in frames; MuJoCo takes no file whose elements are nested deeper
BEYOND = 1e10  # MuJoCo's largest number: a bound that is none
MAIN = "main"
ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "plugin",
    "orientation",
    "pid", "dcmotor",
)  # fmt: skip
ACTUATOR = "actuator"  # they share one set of defaults
TURNED_BY = ("axisangle", "xyaxes", "zaxis", "euler")  # what replaces a quaternion
ORIENTATIONS = {"quat", *TURNED_BY}  # of which the last counts, an element's own before its default class's

Attributes = Mapping[str, str]


class MjcfFile:
    """The elements of a file and of those that it includes.

    A FormatError leaves the file's name to the caller.

    Attributes:
        root: the <mujoco> element.
        compiler: settings of all <compiler> elements, the last one's counting.
        files: where meshes and included files are.
        left_out: equalities that were left out with what is replicated.
    """

    def __init__(self, path: Path, files: MeshFiles) -> None:
        self.files = files
        self.root = read_xml(path)
        if self.root.tag != "mujoco":
            raise FormatError(f"its root element must be <mujoco>, not <{self.root.tag[:40]}>")
        self._folder = path.resolve().parent
        self._folders, self._read = [self._folder], 1
        self._include_all(path.resolve())
        self.compiler = {
            key: value for element in self.root.findall("compiler") for key, value in element.attrib.items()
        }
        if self.compiler.get("coordinate", "local") == "global":
            raise FormatError(
                'its compiler says coordinate="global", which is no longer MJCF; MuJoCo 2.3.3 loads it and saves it as'
                " local"
            )
        self.in_degrees = self.compiler.get("angle", "degree") == "degree"
        self.euler_order = self.compiler.get("eulerseq", "xyz")
        if len(self.euler_order) != 3 or not set(self.euler_order.lower()) <= set("xyz"):
            raise FormatError(f"its compiler's eulerseq must be three of x, y, z, not {self.euler_order[:40]!r}")
        self.left_out = open_replicates(self.root, self._copies)
        self._classes: dict[str, dict[str, dict[str, str]]] = {MAIN: {}}
        for section in self.root.findall("default"):
            self._read_classes(section)

    # Includes

    def _include_all(self, path: Path) -> None:
        waiting: list[tuple[Element, tuple[Path, ...]]] = [(self.root, (path,))]  # elements, and the files around them
        while waiting:
            element, around = waiting.pop()
            children: list[Element] = []
            coming = deque((child, around) for child in element)
            while coming:
                child, files = coming.popleft()
                if child.tag == "include":
                    inner, file = self._included(child.get("file", ""), files)
                    coming.extendleft((each, (*files, file)) for each in reversed(inner))
                else:
                    children.append(child)
                    waiting.append((child, files))
            if len(children) != len(element) or any(a is not b for a, b in zip(children, element, strict=True)):
                element[:] = children

    def _included(self, name: str, around: tuple[Path, ...]) -> tuple[Element, Path]:
        """Return the root of an included file and that file, which may lie beside any that was read.

        `around` are the files that the include stands in.
        """
        try:
            places = [
                self.files.find(str(folder / name) if folder != self._folder else name) for folder in self._folders
            ]
        except FormatError as error:
            raise FormatError(f"its include cannot be followed: {error}") from None
        there = next((self._folder / found for found, is_there in places if is_there), None)
        if there is None:
            raise FormatError(f"it includes {name[:80]!r}, but there is no such file; put it beside this one")
        path = there.resolve()
        if path in around:
            raise FormatError(f"it includes {name[:80]!r} in a ring; a file must not include itself")
        if self._read >= MOST_FILES:
            raise FormatError(f"it includes more than {MOST_FILES} files")
        self._read += 1
        if path.parent not in self._folders:
            self._folders.append(path.parent)
        try:
            return read_xml(path), path
        except FormatError as error:
            raise FormatError(f"included file {name[:80]!r}: {error}") from None

    def _copies(self, replicate: Element, count: int) -> Iterator[Pose]:
        """Yield where copies are: each is offset from the one before, along its axes, and turned by k times the angles.

        Not by the turn of the one before and the angles again, which is another where they are about several axes.
        """
        where, at = "a <replicate>", np.zeros(3)
        offset = np.array(vector(replicate.attrib, "offset", "0 0 0", where))
        angles = np.array(vector(replicate.attrib, "euler", "0 0 0", where))
        for k in range(count):
            turn = self._euler(k * angles)
            yield Pose.of(turn, at)
            at = at + turn @ offset

    # Default classes

    def _read_classes(self, section: Element) -> None:
        waiting: list[tuple[Element, str, dict[str, dict[str, str]]]] = [(section, MAIN, self._classes[MAIN])]
        while waiting:
            element, name, inherited = waiting.pop()
            own = inherited if name == MAIN else {tag: dict(attributes) for tag, attributes in inherited.items()}
            for child in element:
                if child.tag != "default":
                    tag = ACTUATOR if child.tag in ACTUATORS else child.tag
                    own[tag] = _over(own.get(tag, {}), child.attrib)
            self._classes[name] = own
            if len(self._classes) > MOST_CLASSES:
                raise FormatError(f"it has more than {MOST_CLASSES} default classes")
            for child in element.findall("default"):
                inner = child.get("class")
                if not inner:
                    raise FormatError("a <default> within another has no class; give it a name")
                waiting.append((child, inner, own))

    def attributes(self, element: Element, inherited: str | None = None, kind: str | None = None) -> dict[str, str]:
        """Return an element's attributes over those of its default class: its own, or the one that its body hands down.

        `kind` is the element whose defaults count, its own tag if None.
        """
        name = element.get("class") or inherited or MAIN
        if name not in self._classes:
            raise FormatError(f"a <{element.tag}> is of default class {name[:40]!r}, but there is none of that name")
        return _over(self._classes[name].get(kind or element.tag, {}), element.attrib)

    # Values

    def is_true(self, key: str, default: str) -> bool:
        """Return a true-or-false setting of the compiler."""
        return self.compiler.get(key, default) == "true"

    def angle(self, value: float) -> float:
        """Return an angle, given in the file's unit, in [rad]."""
        return math.radians(value) if self.in_degrees else value

    def pose(self, attributes: Attributes, where: str) -> Pose:
        """Return a pose [m] from position and orientation in any of MJCF's forms.

        `where` names the element in errors.
        """
        return Pose.of(self.rotation(attributes, where), vector(attributes, "pos", "0 0 0", where))

    def rotation(self, attributes: Attributes, where: str) -> np.ndarray:
        """Return the matrix (3, 3) of an orientation in any of MJCF's forms; raise FormatError for two of them."""
        given = [key for key in TURNED_BY if key in attributes]
        if len(given) > 1:
            raise FormatError(f"{where} has {' and '.join(given)}; one orientation is enough")
        match given:
            case ["axisangle"]:
                *axis, angle = numbers(attributes["axisangle"], 4, f"{where}: its axisangle")
                return rotation_vector_matrix(
                    self.angle(angle) * _unit(np.array(axis), f"{where}: the axis of its axisangle")
                )
            case ["xyaxes"]:
                six = np.array(numbers(attributes["xyaxes"], 6, f"{where}: its xyaxes"))
                x = _unit(six[:3], f"{where}: the x axis of its xyaxes")
                y = _unit(six[3:] - (x @ six[3:]) * x, f"{where}: the y axis of its xyaxes")
                return np.column_stack([x, y, np.cross(x, y)])
            case ["zaxis"]:
                return z_to(np.array(numbers(attributes["zaxis"], 3, f"{where}: its zaxis")), where)
            case ["euler"]:
                return self._euler(numbers(attributes["euler"], 3, f"{where}: its euler"))
        q = np.array(numbers(attributes.get("quat", "1 0 0 0"), 4, f"{where}: its quat"))
        largest = float(np.abs(q).max())
        if largest < 1e-15:  # MuJoCo's own reading of nothing
            return np.eye(3)
        q = q / largest
        return quaternion_matrix(q / np.linalg.norm(q))

    def _euler(self, angles: Iterable[float]) -> np.ndarray:
        """Small letters turn with the frame, capitals about fixed axes."""
        matrix = np.eye(3)
        for letter, value in zip(self.euler_order, angles, strict=True):
            turn = rotation_vector_matrix(self.angle(value) * np.eye(3)["xyz".index(letter.lower())])
            matrix = matrix @ turn if letter.islower() else turn @ matrix
        return matrix


def _over(default: Attributes, own: Attributes) -> dict[str, str]:
    """Attributes over those of a default class.

    Of a size, the numbers that are left out stay the default's; an orientation replaces one that is said otherwise.
    """
    replaced = ORIENTATIONS if ORIENTATIONS & own.keys() else set()
    merged = {**{key: value for key, value in default.items() if key not in replaced}, **own}
    if "size" in default and "size" in own:
        given = own["size"].split()
        merged["size"] = " ".join(given + default["size"].split()[len(given) :])
    return merged


class Placed(NamedTuple):
    """An element in a body."""

    element: Element  # in the file
    pose: Pose  # of the frame around it, in the body
    inherited: str | None  # default class that it inherits
    frames: tuple[tuple[str, Pose], ...] = ()  # those around it that have names, and what each stands in, in the body


def flattened(element: Element, inherited: str | None, file: MjcfFile, where: str) -> Iterator[Placed]:
    """Yield the children of a body, with frames opened: each with its frame's pose in the body and default class."""
    waiting = [(Placed(child, Pose(), inherited), 1) for child in reversed(element)]
    while waiting:
        placed, depth = waiting.pop()
        child, outer, handed_down, around = placed
        if child.tag == "frame":
            if depth > DEEPEST:
                raise FormatError(f"{where}: its frames are nested more than {DEEPEST} deep")
            inner = outer @ file.pose(child.attrib, f"a frame in {where}")
            own = child.get("childclass", handed_down)
            around = (*around, (child.attrib["name"], outer)) if child.get("name") else around
            waiting += [(Placed(each, inner, own, around), depth + 1) for each in reversed(child)]
        else:
            yield placed


def vector(attributes: Attributes, key: str, default: str, where: str) -> tuple[float, float, float]:
    """Return an attribute of three numbers; `default` is its text where it is missing."""
    x, y, z = numbers(attributes.get(key, default), 3, f"{where}: its {key}")
    return x, y, z


def is_limited(
    attributes: Attributes, limited: str, bounds: str, file: MjcfFile, where: str
) -> tuple[float, float] | None:
    """Return low and high, in the file's unit, of a pair such as `limited` and `range`; None where they do not hold.

    Raise FormatError where they do not run from low to high.
    """
    text, asked = attributes.get(bounds), attributes.get(limited, "auto")
    if text is None or asked == "false" or (asked == "auto" and not file.is_true("autolimits", "true")):
        return None
    low, high = numbers(text, 2, f"{where}: its {bounds}")
    if asked == "auto" and low >= high:
        return None
    low, high = (b if abs(b) < BEYOND else math.copysign(math.inf, b) for b in (low, high))
    if low > high:
        raise FormatError(f"{where}: its {bounds} must run from low to high, not from {low:g} to {high:g}")
    return low, high


def z_to(direction: np.ndarray, where: str) -> np.ndarray:
    """Return the smallest rotation (3, 3) that brings z to a direction (3,)."""
    z = _unit(direction, f"{where}: its direction")
    axis = np.array([-z[1], z[0], 0.0])
    sine = float(np.linalg.norm(axis))
    axis = np.array([1.0, 0.0, 0.0]) if sine < 1e-10 else axis / sine
    return rotation_vector_matrix(np.arctan2(sine, z[2]) * axis)


def _unit(v: np.ndarray, what: str) -> np.ndarray:
    largest = float(np.abs(v).max())
    if not 1e-15 < largest < np.inf:
        raise FormatError(f"{what} must not be zero; give a direction, for example 0 0 1")
    v = v / largest
    return v / np.linalg.norm(v)
