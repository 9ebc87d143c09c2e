"""The demo: a character walks, the walker follows it, and its servos play that; then both of its bakes try in physics.

`make demo`, or `make demo BVH=file` with a recording. `make demo-physics` also searches for what makes the walk stand.

Leaves out/walker.blend, out/walker.csv, out/report.json, out/walker.png and, where it searched, out/walker_stood.csv;
prints what came out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from tools.installed import installed_extension

OUT = Path(__file__).resolve().parents[1] / "out"


def main() -> int:
    """Run the demo; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bvh", type=Path, help="a recording to follow instead of our own character's walk")
    parser.add_argument("--out", type=Path, default=OUT, help="where the files go (default: out/)")
    wide = {"type": int, "choices": range(1, 13), "default": 6, "metavar": "N"}
    parser.add_argument("--moments", **wide, help="in the picture (default: 6)")
    some = {"type": int, "choices": range(1, 101), "default": 10, "metavar": "N"}
    parser.add_argument("--trials", **some, help="in physics, with disturbances (default: 10)")
    parser.add_argument("--stand", action="store_true", help="search for what makes the walk stand in physics, too")
    arguments = parser.parse_args()
    if arguments.bvh is not None and not arguments.bvh.is_file():
        print(f"{arguments.bvh}: there is no such recording; give the path of a BVH file", file=sys.stderr)
        return 2
    began = time.perf_counter()
    with installed_extension():
        from bl_ext.user_default.robik.robik.errors import RobikError

        from demo import show  # needs Blender, and the library that the extension brought
        from demo.table import attempts, falls, table

        try:
            arguments.out.mkdir(parents=True, exist_ok=True)
            shown = show.show(arguments.bvh, arguments.out, arguments.moments)
            print(f"\n{table(shown.report)}\n", flush=True)
            show.fall(shown, arguments.trials)
            print(falls(shown.report), flush=True)
            if arguments.stand:
                show.stand(shown, arguments.out, arguments.trials)
                print(f"\n{attempts(shown.report['stood'])}")
        except RobikError as error:
            print(error, file=sys.stderr)
            return 2
    (arguments.out / "report.json").write_text(json.dumps(shown.report, indent=2) + "\n", encoding="utf-8")
    files = ", ".join(sorted(path.name for path in arguments.out.iterdir() if path.is_file()))
    print(f"\n{arguments.out}: {files}; {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender 4.2 and 4.5 may crash or hang when Python winds up
