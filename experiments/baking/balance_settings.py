"""The picture of docs/balance.md: the walker's steps with each setting of the panel Balance."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from experiments.drawing import COLORS
from robik.bake.balancing import balanced
from robik.bake.settings import BakeSettings, Balance
from robik.bake.solver_settings import solver_settings
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip
from robik.dynamics.zero_moment import zero_moment_points
from robik.feet.finding import above_ground
from robik.feet.support import standing_points, zero_moment_margins
from robik.mechanism import Mechanism
from robik.mechanism.orientations import quaternions, rotation
from robik.motions import Motion
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from robik.robots import load
from robik.surroundings.obstacle import GROUND, Obstacle

FPS = 60.0
SLOPE = 0.12  # of the ground's rise
PATHS = (("off", "Off: where the character has it"), ("still", "Still: over one foot, then the other"),
         ("moving", "Moving: momentum carries it"))  # fmt: skip
MARGINS = (0.0, 0.02)  # m


class Baked(NamedTuple):
    """A bake of the walker."""

    clip: TargetClip
    motion: Motion

    @property
    def contacts(self) -> dict[str, np.ndarray]:
        """Return whether each foot stands (T,)."""
        return {name: track.contact for name, track in self.clip.tracks.items() if track.contact is not None}


def figure() -> Figure:
    """Draw what each setting does to the same walk."""
    walker = load("walker")
    walk = walk_clip(walker, FPS, balanced=False)
    drawn, axes = plt.subplots(2, 3, figsize=(10.5, 5.2), layout="constrained")
    for place, (mode, title) in zip(axes[0], PATHS, strict=True):
        _draw_paths(place, walker, baked_walk(walker, walk, Balance(mode=mode, gives=0.0)))
        place.set_title(f"Balance, {title}")
    for color, margin in zip(COLORS, MARGINS, strict=False):
        baked = baked_walk(walker, walk, Balance(mode="moving", margin=margin, gives=0.0))
        _draw_margin(axes[1, 0], walker, baked, color, margin)
    axes[1, 0].set_title("Margin: how far inside the feet")
    rough = _rough(walk)
    for color, pins in zip(COLORS, (False, True), strict=False):
        _draw_soles(axes[1, 1], walker, baked_walk(walker, rough, Balance(mode="still", pin_feet=pins)), color, pins)
    axes[1, 1].set_title("Pin Feet: a foot that drifts, tilted by 3°")
    _draw_slope(axes[1, 2], walker, walk)
    axes[1, 2].set_title("Ground: the same walk on a slope")
    return drawn


def baked_walk(walker: Mechanism, clip: TargetClip, balance: Balance) -> Baked:
    """Bake a clip as the panel's settings say."""
    settings = solver_settings(
        walker, {name: Weights() for name in clip.tracks}, balance, BakeSettings(look_ahead=False, keep_apart=False)
    )
    followed = above_ground(walker, balanced(clip, walker, balance, settings), balance.pin_feet)
    return Baked(followed, retarget(walker, followed, settings))


def _rough(clip: TargetClip) -> TargetClip:
    """Return a clip whose feet tremble and are tilted, as a recording's."""
    chance, tracks = np.random.default_rng(2), dict(clip.tracks)
    for name in ("foot_l", "foot_r"):
        track = clip.tracks[name]
        assert track.position is not None and track.quaternion is not None  # a walk's feet have both
        slow = np.cumsum(chance.normal(0.0, 0.0002, (len(clip.times), 3)), axis=0)
        tilted = Rotation.from_euler("y", 0.05) * rotation(track.quaternion)
        tracks[name] = replace(track, position=track.position + slow, quaternion=quaternions(tilted))
    return replace(clip, tracks=tracks)


def _draw_paths(axes: Axes, walker: Mechanism, baked: Baked) -> None:
    """Draw soles, centre of mass and zero-moment point from above."""
    contacts = baked.contacts
    for name, stands in contacts.items():
        outline = 1e3 * standing_points(walker, baked.motion, name)
        for sole in np.unique(np.round(outline[stands], 0), axis=0):
            axes.fill(sole[:, 0], sole[:, 1], color="0.88", linewidth=0.0)
    inside = zero_moment_margins(walker, baked.motion, contacts)
    points = 1e3 * zero_moment_points(walker, baked.motion, np.zeros(len(baked.motion.times)))
    out = inside < 0.0
    axes.plot(*points.T, ".", color=COLORS[2], markersize=2.0, label="force on the ground")
    axes.plot(*points[out].T, ".", color=COLORS[0], markersize=2.5, label="… outside: it tips")
    assert baked.motion.com is not None  # a solved motion has it
    axes.plot(*(1e3 * baked.motion.com[:, :2]).T, color=COLORS[1], label="centre of mass")
    axes.set_aspect("equal")
    axes.set_xlabel("mm")
    axes.legend(frameon=False, loc="upper center", ncols=3, fontsize=6, columnspacing=0.8, handlelength=1.0)
    axes.set_ylim(-130, 150)


def _draw_margin(axes: Axes, walker: Mechanism, baked: Baked, color: str, margin: float) -> None:
    """Draw how far the force on the ground is inside the feet."""
    inside = 1e3 * zero_moment_margins(walker, baked.motion, baked.contacts)
    axes.plot(baked.motion.times, np.clip(inside, -20.0, 60.0), color=color, label=f"{1e3 * margin:.0f} mm")
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.set_xlabel("s")
    axes.set_ylabel("inside by, mm")
    axes.set_ylim(-10, 75)
    axes.legend(frameon=False, ncols=2, loc="upper center")


def _draw_soles(axes: Axes, walker: Mechanism, baked: Baked, color: str, pins: bool) -> None:
    """Draw how high the lowest and the highest point of a sole are."""
    heights = 1e3 * standing_points(walker, baked.motion, "foot_l")[..., 2]
    times, label = baked.motion.times, "on: flat on the ground" if pins else "off"
    axes.fill_between(
        times, heights.min(axis=1), heights.max(axis=1), color=color, alpha=0.6, linewidth=0.5, label=label
    )
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.set_ylim(-8, 34)
    axes.set_xlabel("s")
    axes.set_ylabel("sole, mm above the ground")
    axes.legend(frameon=False, ncols=2)


def _draw_slope(axes: Axes, walker: Mechanism, walk: TargetClip) -> None:
    """Draw soles and hips from the side, on level ground and on a slope."""
    for color, rise in zip(COLORS[1:], (0.0, SLOPE), strict=False):
        ground: tuple[Obstacle, ...] = ()
        if rise:
            points = np.array([[x, y, rise * x] for x in (-0.5, 1.5) for y in (-1.0, 1.0)])
            ground = (Obstacle(name=GROUND, vertices=points, triangles=np.array([[0, 2, 1], [1, 2, 3]])),)
        baked = baked_walk(walker, replace(walk, obstacles=ground), Balance(mode="still"))
        for name, stands in baked.contacts.items():
            outline = 1e3 * standing_points(walker, baked.motion, name)
            for sole in outline[stands][:: int(FPS / 6)]:
                ends = [sole[:, 0].argmin(), sole[:, 0].argmax()]
                axes.plot(sole[ends, 0], sole[ends, 2], color=color, linewidth=2.0)
        assert baked.motion.com is not None  # a solved motion has it
        axes.plot(1e3 * baked.motion.com[:, 0], 1e3 * baked.motion.com[:, 2], color=color, label=f"{100 * rise:.0f} %")
    axes.set_xlabel("mm")
    axes.legend(frameon=False, ncols=2, title="centre of mass above, soles below")
