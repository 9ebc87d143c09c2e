"""The moving picture at the head of the README: a character walks, robots walk after it, in a loop without a seam.

    python -m demo.moving --humanoid g1.xml     docs/images/walking.webp

Each robot is baked by the operators that a user's clicks call. The loop is one stride out of the middle of the walk;
the camera goes along at its speed, and the tiles of the ground divide its length.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tools.installed import installed_extension

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "walking.webp"


def main() -> None:
    """Render it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--humanoid", type=Path, help="a robot file with two legs, to walk beside the walker")
    parser.add_argument("--called", default="humanoid", help="what is written below that robot")
    parser.add_argument("--out", type=Path, default=PICTURE)
    parser.add_argument("--every", type=int, default=1, help="render every so manieth frame, to try things out")
    arguments = parser.parse_args()
    with installed_extension():
        from demo.film import film  # needs Blender, and the library that the extension brought

        frames, rate = film(arguments.humanoid and arguments.humanoid.absolute(), arguments.called, arguments.every)
        save(frames, rate, arguments.out.absolute())
        sys.stdout.flush()
        os._exit(0)  # Blender 4.2 and 4.5 may crash or hang when Python winds up


def save(frames: list, rate: float, out: Path) -> None:
    """Write pixels (height, width, 4) per frame, 0 to 1, as a WebP that plays for ever."""
    import numpy as np
    from PIL import Image

    pictures = [Image.fromarray((255 * np.clip(frame[..., :3], 0, 1) + 0.5).astype(np.uint8)) for frame in frames]
    first, *rest = pictures
    first.save(out, save_all=True, append_images=rest, duration=round(1000 / rate), loop=0, quality=80, method=6)
    print(f"{out}: {len(frames)} frames, {first.width} x {first.height}, {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
