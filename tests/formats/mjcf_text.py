"""Small MJCF robots as text, for the tests to write."""

from __future__ import annotations

from pathlib import Path


def write(folder: Path, body: str, rest: str = "", compiler: str = "") -> Path:
    path = folder / "robot.xml"
    path.write_text(
        f'<mujoco model="r"><compiler {compiler}/>{rest}<worldbody>{body}</worldbody></mujoco>', encoding="utf-8"
    )
    return path


# Single statements of the format, each also read by MuJoCo

LUMP = '<geom type="box" size="0.1 0.2 0.3" mass="1"/>'
FOURBAR = f"""<body name="crank"><joint name="a" axis="0 1 0"/>{LUMP}
    <body name="rod" pos="0 0 1"><joint name="b" axis="0 1 0"/>{LUMP}</body></body>
    <body name="rocker" pos="2 0 0"><joint name="c" axis="0 1 0"/>{LUMP}</body>"""
