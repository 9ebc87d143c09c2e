"""Four scenes of contacts: a character sits down, leans on a table, walks up steps, rides a platform, and a robot does.

    python -m demo.scenes --robot g1.xml          pictures in out/scenes, figures printed
    python -m demo.scenes --robot g1.xml sit lean

The character is the walking one with other keys; seat, table, steps and platform stand beside the robot, at its scale.
Each is set up and baked by the operators that a user's clicks call.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tools.installed import installed_extension

NAMES = ("sit", "lean", "steps", "platform")


def main() -> None:
    """Bake and render them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenes", nargs="*", default=[], metavar="SCENE", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--robot", type=Path, required=True, help="a humanoid's file")
    parser.add_argument("--out", type=Path, default=Path("out/scenes"))
    arguments = parser.parse_args()
    if unknown := set(arguments.scenes) - set(NAMES):
        parser.error(f"there is no scene {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    with installed_extension():
        from demo.scene_stage import show  # needs Blender, and the library that the extension brought

        arguments.out.mkdir(parents=True, exist_ok=True)
        for name in arguments.scenes or NAMES:
            show(name, arguments.robot.absolute(), arguments.out.absolute())
        sys.stdout.flush()
        os._exit(0)  # Blender 4.2 and 4.5 may crash or hang when Python winds up


if __name__ == "__main__":
    main()
