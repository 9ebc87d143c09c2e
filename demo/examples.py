"""Three scenes to learn from: a boxer that punches, a dancer, a walker; `python -m demo.examples` bakes them.

Leaves out/boxer.blend, out/dancer.blend and out/walker_steps.blend.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tools.installed import installed_extension

OUT = Path(__file__).resolve().parents[1] / "out"


def main() -> None:
    """Make all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, help="where the files go (default: out/)")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with installed_extension():
        from demo.example_scenes import EXAMPLES, make  # need Blender, and the library that the extension brought

        for name in EXAMPLES:
            print(make(name, arguments.out.absolute()), flush=True)
        sys.stdout.flush()
        os._exit(0)  # Blender 4.2 and 4.5 may crash or hang when Python winds up


if __name__ == "__main__":
    main()
