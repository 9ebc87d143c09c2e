"""Commands without a window, each a Blender process of its own, with the zip installed by one of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path

import bpy

from tests.gui.window import until

ARCHIVE = Path("/tmp/robik.zip")
FOLDER = Path("/tmp/commands")
POLE = """<robot name="pole"><link name="foot"/><link name="arm"><visual><geometry><mesh filename="part.obj"/>
</geometry></visual></link>
<joint name="swing" type="continuous"><parent link="foot"/><child link="arm"/></joint></robot>"""


def run_commands() -> Iterator[float]:
    """Installs; bakes the scene of the window, as saved; imports into that file; what is wrong is one line and a
    code."""
    FOLDER.mkdir()
    scene, motion, both = FOLDER / "scene.blend", FOLDER / "motion.csv", FOLDER / "both.blend"
    (FOLDER / "pole.urdf").write_text(POLE, encoding="utf-8")
    (FOLDER / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    bpy.ops.wm.save_as_mainfile(filepath=str(scene), copy=True)
    yield from command("--command", "extension", "install-file", "--repo", "user_default", "--enable", ARCHIVE)
    yield from command(scene, "--command", "robik", "bake", "--start", 1, "--end", 3, "--samples", 1, "--csv", motion)
    lines = motion.read_text(encoding="utf-8").splitlines()
    assert (lines[0], len(lines)) == ("# base: torso", 2 + 3), lines
    said = yield from command(scene, "--command", "robik", "import", FOLDER / "pole.urdf", "--output", both)
    assert said.startswith("pole: 2 bodies, 2 joints, 1 motor"), said
    assert "small cube" not in said
    with bpy.data.libraries.load(str(both)) as (inside, _):
        assert {"pole", "arm.visual", "torso"} <= set(inside.objects)
        assert "part" in inside.meshes
    for words, complaint in (
        (
            (scene, "--command", "robik", "import", FOLDER / "gone.urdf", "--output", FOLDER / "no.blend"),
            "there is no such file",
        ),
        (
            (scene, "--command", "robik", "import", FOLDER / "pole.urdf", "--output", "/nowhere/no.blend"),
            "there is no folder",
        ),
        ((scene, "--command", "robik", "import", FOLDER / "pole.urdf", "--output", FOLDER), "is a folder"),
        (
            (FOLDER / "gone.blend", "--command", "robik", "import", FOLDER / "pole.urdf", "--output", both),
            "gone.blend cannot be opened",
        ),
        (("--command", "robik", "fly"), "invalid choice"),
    ):
        said = yield from command(*words, code=2)
        assert complaint in said
        assert len(said.splitlines()) == 1, said
    assert not list(FOLDER.glob("no*"))


def command(*words: object, code: int = 0) -> Generator[float, None, str]:
    """A Blender of its own in the background, while the window stays alive.

    Returns:
        What it said: on stderr where it is to fail, else on stdout.
    """
    out, err = FOLDER / "out.txt", FOLDER / "err.txt"
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(FOLDER / "user")}
    with open(out, "w") as stdout, open(err, "w") as stderr:
        going = subprocess.Popen(
            ["blender", "--background", *map(str, words)], stdout=stdout, stderr=stderr, env=environment
        )
    yield from until(lambda: going.poll() is not None, 600, f"the end of {words}")
    assert going.returncode == code, (words, out.read_text(), err.read_text())
    own = (
        "could not get a list of mounted file-systems",
        "error: cannot read file",
    )  # said by Blender, here where there is no list
    lines = (err if code else out).read_text().splitlines()
    return "\n".join(line for line in lines if not any(text in line.lower() for text in own))
