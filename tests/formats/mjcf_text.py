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


HINGE = '<joint name="j{0}" axis="{1} {2} 1" range="-10 10"/><geom size="0.01" mass="1"/>'


def hopeless(folder: Path, links: int, chains: int) -> Path:
    """Chains of hinges whose ends are to meet a place far beyond their reach: MuJoCo takes the file, no pose closes
    it."""
    bodies, ties = "", ""
    for chain in range(chains):
        names = [f"{chain}_{k}" for k in range(links)]
        inner = "".join(
            f'<body name="b{n}" pos="0.1 0 0">' + HINGE.format(n, k % 2, (k + 1) % 3) for k, n in enumerate(names)
        )
        bodies += inner + f'<site name="end{chain}"/>' + "</body>" * links
        ties += f'<connect site1="end{chain}" site2="{"far" if chain == 0 else f"end{chain - 1}"}"/>'
    far = '<body name="post" pos="0 0 100"><geom size="0.01" mass="1"/><site name="far"/></body>'
    return write(folder, bodies + far, f"<equality>{ties}</equality>")
