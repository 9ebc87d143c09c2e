"""The gallery in Blender: where robots are looked for, their previews, and how one comes into the scene."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Sequence
from hashlib import sha256
from pathlib import Path

import bpy
import bpy.utils.previews
from bpy.props import StringProperty
from bpy.types import AddonPreferences, Context, Object, Scene

from ...robik import program
from ...robik.gallery import Entry, Places, entries, unpacked
from ...robik.servo.chain.file import load_chain
from ..long_work.steps import Progress
from ..servos import setup as servo_setup
from .robot_file import import_steps

PACKAGE = __package__.rpartition(".scene")[0]  # of the add-on


class RobikPreferences(AddonPreferences):
    """Preferences of the add-on."""

    bl_idname = PACKAGE

    gallery: StringProperty(
        name="Robot Folders",
        description=(
            "Folders with robots or wheels of robots that the gallery shows, with a semicolon between; robots of"
            " installed packages are found by themselves"
        ),
    )

    def draw(self, context: Context) -> None:
        """In Edit > Preferences > Add-ons."""
        self.layout.prop(self, "gallery")


def gallery() -> tuple[Entry, ...]:
    """Return the robots that can be chosen on this machine."""
    preferences: RobikPreferences = bpy.context.preferences.addons[PACKAGE].preferences  # type: ignore[assignment]
    folders = [bpy.path.abspath(part.strip()) for part in preferences.gallery.split(";") if part.strip()]
    return entries(Places.of_this_machine(folders))


def _kept(path: str) -> Path:
    return Path(bpy.utils.extension_path_user(PACKAGE, path=path, create=True))


def gallery_steps(context: Context, entry: Entry) -> Generator[Progress, None, Object]:
    """Build a robot of the gallery into the scene, yielding progress, and return its root.

    Its servos become the scene's, where that has none. After a RobikError the scene is as it was.
    """
    yield Progress(None, f"Reading {entry.title}")
    path = unpacked(entry, _kept("robots"))
    root = yield from import_steps(context, str(path))
    if entry.servos is not None and _has_no_servos(context.scene):
        servo_setup.keep(context.scene, load_chain(entry.servos))
    return root


def _has_no_servos(scene: Scene) -> bool:
    return not scene.robik.servos and not scene.robik.playing.chain


class Previews:
    """Pictures of robots, kept among the user's files, and drawn by processes of their own where there is none yet.

    A picture belongs to a robot file of one size and age: a changed file gets a new one.
    """

    def __init__(self) -> None:
        self._icons = bpy.utils.previews.new()
        self._drawing: subprocess.Popen | None = None

    def want(self, wanted: Sequence[Entry]) -> None:
        """Draw the missing pictures of these robots, one after the other.

        A wheel's robot is drawn once it is unpacked.
        """
        missing = [entry for entry in wanted if not entry.inside and not self.picture(entry).exists()]
        if self.is_drawing or not missing:
            return
        paths = [str(path) for entry in missing for path in (entry.file, self.picture(entry))]
        self._drawing = subprocess.Popen(
            program.command("gallery.preview", *paths),
            env=program.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def is_drawing(self) -> bool:
        """Return whether pictures may still come in."""
        return self._drawing is not None and self._drawing.poll() is None

    def icon(self, entry: Entry) -> int:
        """Return the icon of a robot's picture; 0 while there is none, and where Blender has no window."""
        path = self.picture(entry)
        if path.name not in self._icons:
            if not path.exists():
                return 0
            self._icons.load(path.name, str(path), "IMAGE")
        return int(self._icons[path.name].icon_id)

    def picture(self, entry: Entry) -> Path:
        """Return the path of a robot's picture, drawn or not."""
        if entry.picture is not None:
            return entry.picture
        try:
            stat = entry.file.stat()
            age = f"{stat.st_size} {stat.st_mtime_ns}"
        except OSError:
            age = ""
        return _kept("gallery") / f"{sha256(f'{entry.key} {age}'.encode()).hexdigest()[:24]}.png"

    def close(self) -> None:
        """End what draws, and let the pictures go."""
        if self._drawing is not None and self._drawing.poll() is None:
            self._drawing.kill()
            self._drawing.wait()
        bpy.utils.previews.remove(self._icons)


previews: Previews | None = None


def register() -> None:
    """Add the preferences."""
    global previews
    bpy.utils.register_class(RobikPreferences)
    previews = Previews()


def unregister() -> None:
    """In reverse."""
    global previews
    if previews is not None:
        previews.close()
        previews = None
    bpy.utils.unregister_class(RobikPreferences)
