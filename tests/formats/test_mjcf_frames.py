"""What MJCF's frames, default classes and replicates hold, drawn at random: it stands where MuJoCo has it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from robik.errors import FormatError
from robik.formats import import_robot
from tests.formats.mjcf_text import LUMP, write
from tests.formats.mujoco_judge import Judge, as_stored, compare_with_mujoco

TURNS = {"quat": (4, 1.0), "euler": (3, 60.0), "xyaxes": (6, 1.0), "zaxis": (3, 1.0)}  # how many numbers, how large
ORIENTATIONS = {"quat": "0.5 0.1 0.3 0.2", "axisangle": "1 2 3 40", "xyaxes": "1 2 3 -2 1 0", "zaxis": "1 2 3",
                "euler": "10 20 30"}  # fmt: skip
EVEN = 'diaginertia="1 1 1"'
INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="2" {}/>'


class Drawn:
    """Elements drawn at random, with names of their own.

    Args:
        seed: Of the numbers.
    """

    def __init__(self, seed: int) -> None:
        self.rng, self.made = np.random.default_rng(seed), 0

    def file(self, folder: Path) -> Path:
        """Write a file with default classes, frames and replicates."""
        a, b, c = (self.defaults() for _ in range(3))
        classes = f'<default>{a}<default class="A">{b}<default class="B">{c}</default></default></default>'
        order = self.one("xyz", "ZYX", "xZx", "yXz")
        return write(folder, self.body(0) + self.frame(0, self.body(0)), classes, f'eulerseq="{order}"')

    def one(self, *values: str) -> str:
        return str(self.rng.choice(values))

    def often(self) -> bool:
        return bool(self.rng.random() < 0.6)

    def numbers(self, count: int, size: float = 0.5) -> str:
        return " ".join(f"{v:.3f}" for v in self.rng.uniform(-size, size, count))

    def pose(self) -> str:
        """Return a position and an orientation, or one of them, or none."""
        turn = self.one(*TURNS)
        return (f' pos="{self.numbers(3)}"' if self.often() else "") + (
            f' {turn}="{self.numbers(*TURNS[turn])}"' if self.often() else ""
        )

    def defaults(self) -> str:
        axis = f' axis="{self.numbers(3, 1)}"' if self.often() else ""
        joint = f'<joint type="{self.one("hinge", "slide")}"{axis} pos="{self.numbers(3)}" ref="{self.numbers(1)}"/>'
        return f'<geom type="{self.one("box", "capsule")}" size="0.1 0.2 0.3"{self.pose()}/>{joint}<site{self.pose()}/>'

    def named(self, tag: str, more: str = "") -> str:
        self.made += 1
        own = f' class="{self.one("A", "B")}"' if self.often() else ""
        return f'<{tag} name="{tag}{self.made}_"{own}{more}/>'

    def frame(self, depth: int, inner: str) -> str:
        handed = f' childclass="{self.one("A", "B")}"' if self.often() else ""
        return f"<frame{self.pose()}{handed}>{inner}{self.camera(depth)}</frame>"

    def camera(self, depth: int) -> str:
        return f'<camera{self.pose()}/><light dir="{self.numbers(3, 1)}"/>' if depth else ""

    def body(self, depth: int) -> str:
        """Return a body, each of whose parts may stand in frames."""
        own = 'diaginertia="0.3 0.35 0.4"' if self.often() else 'fullinertia="0.3 0.35 0.4 0.02 0.01 -0.03"'
        geom, site, joint = self.named("geom", self.pose()), self.named("site", self.pose()), self.named("joint")
        copied = (
            f'<replicate count="3" offset="{self.numbers(3)}" euler="{self.numbers(3, 60)}">{geom}{site}</replicate>'
        )
        parts = [LUMP, copied, joint, f'<inertial pos="{self.numbers(3)}" mass="2" {own}/>' if self.often() else ""]
        parts += [self.body(depth + 1) for _ in range(2 if depth < 2 else 0)]
        self.rng.shuffle(parts)
        framed = "".join(self.frame(1, self.frame(1, p)) if self.often() else self.frame(1, p) for p in parts if p)
        self.made += 1
        return f'<body name="body{self.made}"{self.pose()}>{framed}</body>'


@pytest.mark.parametrize("seed", range(12))
def test_all_that_frames_hold_stands_where_mujoco_has_it(seed: int, tmp_path: Path) -> None:
    path = Drawn(seed).file(tmp_path)
    compare_with_mujoco(path, 2)
    compare_sites(path)


def compare_sites(path: Path) -> None:
    """Compare the sites' frames where the file draws the robot."""
    robot, judge = as_stored(path), Judge(path)
    judge.place(judge.model.qpos0)
    now, frames = robot.placed(robot.stored), {frame.name: frame for frame in robot.frames}
    for k in (k for k in range(judge.model.nsite) if judge.model.site_bodyid[k] > 0):
        frame = frames[judge.model.site(k).name]
        body = robot.order[frame.body]
        position = now.p[body] + now.R[body] @ np.array(frame.pose.position)
        assert np.allclose(position, judge.data.site_xpos[k], atol=1e-9, rtol=0)
        turn = judge.data.site_xmat[k].reshape(3, 3)
        assert np.allclose(now.R[body] @ frame.pose.matrix, turn, atol=1e-9, rtol=0)


@pytest.mark.parametrize("moments", ['diaginertia="0.1 0.12 0.13"', 'fullinertia="0.1 0.12 0.13 0.01 0.02 0.03"'])
def test_an_inertial_stands_in_its_frame(moments: str, tmp_path: Path) -> None:
    framed = f'<frame pos="0.3 0 0" euler="0 40 0">{INERTIAL.format(moments)}</frame>'
    compare_with_mujoco(write(tmp_path, f'<body name="a"><joint name="h"/>{LUMP}{framed}</body>'))


@pytest.mark.parametrize("framed_last", [True, False])
def test_of_two_inertials_the_last_counts(framed_last: bool, tmp_path: Path) -> None:
    framed = f'<frame pos="0.3 0 0" euler="0 40 0">{INERTIAL.format(EVEN)}</frame>'
    own = '<inertial pos="1 0 0" mass="3" diaginertia="2 2 2"/>'
    both = own + framed if framed_last else framed + own
    compare_with_mujoco(write(tmp_path, f'<body name="a"><joint name="h"/>{LUMP}{both}</body>'))


@pytest.mark.parametrize(("default", "own"), list(permutations(ORIENTATIONS, 2)))
def test_an_element_s_orientation_replaces_its_class_s(default: str, own: str, tmp_path: Path) -> None:
    classes = (
        f'<default><geom {default}="{ORIENTATIONS[default]}"/><site {default}="{ORIENTATIONS[default]}"/></default>'
    )
    turned = f'{own}="{ORIENTATIONS[own]}"'
    geom = f'<geom type="box" size="0.1 0.2 0.3" {turned}/>'
    path = write(tmp_path, f'<body name="a"><joint name="h"/>{geom}<site name="s" {turned}/></body>', classes)
    compare_with_mujoco(path, 1)
    compare_sites(path)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_copies_are_turned_by_as_many_times_the_angles(count: int, tmp_path: Path) -> None:
    leg = f'<body name="leg" pos="1 0 0"><joint name="hip" axis="0 1 0"/>{LUMP}</body>'
    copies = f'<replicate count="{count}" offset="0.1 0.2 -0.3" euler="35 -15 20">{leg}</replicate>'
    compare_with_mujoco(write(tmp_path, f'<body name="hub"><joint name="turn"/>{LUMP}{copies}</body>'), 2)


MODEL = f"""<mujoco model="m"><compiler angle="radian" eulerseq="ZYX"/><default><default class="q"><joint axis="1 1 0"/>
    </default></default><worldbody><frame childclass="q" pos="0.1 0.1 0.1" euler="0.1 0.2 0.3">
    <frame name="whole" pos="0.2 0.1 0" euler="0.3 0.1 0.2"><site name="mark" pos="1 0 0" euler="0.1 0.2 0.3"/>
    <body name="arm" pos="1 0 0" euler="0.3 0.2 0.1"><joint name="h"/>{LUMP}
    <frame name="part" pos="0.1 0.3 0.2" euler="0.2 0.3 0.4"><body name="hand" pos="0.3 0 0"><joint name="s"/>
    <joint name="t" axis="1 0 0"/>{LUMP}</body><site name="tip" pos="0.5 0 0"/></frame></body></frame></frame>
    <body name="other" pos="0 2 0"><joint name="o"/>{LUMP}</body>%s</worldbody>
    <equality><connect body1="hand" body2="arm" anchor="0 0 0"/></equality></mujoco>"""
ASSET = '<asset><model name="m" file="m.xml"/></asset>'
FRAMED = '<frame pos="0.3 0.1 0.2" euler="10 20 30"><attach model="m" {} prefix="p_"/></frame>'
HUB = f'<body name="hub" pos="0 0 1"><joint name="turn"/>{LUMP}%s</body>'
MEANT = ["", *(f'body="{name}"' for name in ("arm", "hand", "other")), 'frame="whole"', 'frame="part"']


@pytest.mark.parametrize("meant", MEANT)
@pytest.mark.parametrize("bodies", [HUB % FRAMED, FRAMED + HUB % ""], ids=["in a body", "in the world"])
def test_what_is_attached_stands_where_mujoco_has_it(bodies: str, meant: str, tmp_path: Path) -> None:
    """A body without the frames around it, a frame with its own, or all that the model's world holds."""
    (tmp_path / "m.xml").write_text(MODEL % "")
    path = write(tmp_path, bodies.format(meant), ASSET)
    compare_with_mujoco(path, 2)
    compare_sites(path)


def test_geoms_of_an_attached_model_s_world_are_told(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(MODEL % LUMP)
    found = import_robot(write(tmp_path, HUB % FRAMED.format(""), ASSET))
    assert any(said.startswith("attached model 'm': geoms that stand in what is attached") for said in found.warnings)
    found = import_robot(write(tmp_path, HUB % FRAMED.format('frame="whole"'), ASSET))
    assert not any("geoms that stand" in said for said in found.warnings)


def test_a_frame_that_the_attached_model_has_not_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(MODEL % "")
    with pytest.raises(FormatError, match="it attaches frame 'gone' that has no body"):
        import_robot(write(tmp_path, HUB % FRAMED.format('frame="gone"'), ASSET))
