"""Penetration of a motion: how deep a robot goes into itself, the ground and obstacles, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

DEEP = 1e-3  # m: a frame with more counts


@dataclass(frozen=True, kw_only=True, eq=False)
class Penetration:
    """Depths to which a robot goes into itself, into the ground and into obstacles.

    Attributes:
        pairs: names of two bodies that go into each other at some time, the deepest first.
        depths: (T, pairs) [m], 0 where they do not.
        ground_bodies: names of the bodies that go into the ground at some time, the deepest first.
        ground_depths: (T, ground_bodies) [m].
        obstacle_pairs: a body and the obstacle that it goes into at some time, the deepest first.
        obstacle_depths: (T, obstacle_pairs) [m].
    """

    pairs: tuple[tuple[str, str], ...]
    depths: np.ndarray
    ground_bodies: tuple[str, ...]
    ground_depths: np.ndarray
    obstacle_pairs: tuple[tuple[str, str], ...] = ()
    obstacle_depths: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def self_share(self) -> float:
        """Share of the frames in which the robot is more than `DEEP` in itself."""
        return _share(self.depths)

    @property
    def ground_share(self) -> float:
        """Share of the frames in which it is more than `DEEP` in the ground."""
        return _share(self.ground_depths)

    @property
    def obstacle_share(self) -> float:
        """Share of the frames in which it is more than `DEEP` in an obstacle."""
        return _share(self.obstacle_depths)

    def __str__(self) -> str:
        said = []
        if self.pairs:
            k = int(self.depths[:, 0].argmax())
            said.append(
                f"{self.pairs[0][0]} is {1e3 * self.depths[k, 0]:.3g} mm in {self.pairs[0][1]} in sample {k},"
                f" the robot in itself in {100 * self.self_share:.3g} % of the samples"
            )
        if self.ground_bodies:
            k = int(self.ground_depths[:, 0].argmax())
            said.append(
                f"{self.ground_bodies[0]} is {1e3 * self.ground_depths[k, 0]:.3g} mm in the ground in sample {k},"
                f" some body in {100 * self.ground_share:.3g} % of the samples"
            )
        if self.obstacle_pairs:
            k, (body, obstacle) = int(self.obstacle_depths[:, 0].argmax()), self.obstacle_pairs[0]
            said.append(
                f"{body} is {1e3 * self.obstacle_depths[k, 0]:.3g} mm in the obstacle {obstacle} in sample {k}, some"
                f" body in one in {100 * self.obstacle_share:.3g} % of the samples"
            )
        return "; ".join(said) or "the robot goes neither into itself nor into the ground"

    def as_data(self) -> dict:
        """Return plain data, as `REPORT.json` holds it: lengths in millimetres, shares of the frames."""
        return {
            "self_penetration_mm": 1e3 * float(self.depths.max(initial=0.0)),
            "self_penetration_frames": self.self_share,
            "self_penetration_pairs": [_row(self.depths[:, i], bodies=list(pair)) for i, pair in enumerate(self.pairs)],
            "ground_penetration_mm": 1e3 * float(self.ground_depths.max(initial=0.0)),
            "ground_penetration_frames": self.ground_share,
            "ground_penetration_bodies": [
                _row(self.ground_depths[:, i], body=name) for i, name in enumerate(self.ground_bodies)
            ],
            "obstacle_penetration_mm": 1e3 * float(self.obstacle_depths.max(initial=0.0)),
            "obstacle_penetration_frames": self.obstacle_share,
            "obstacle_penetration_pairs": [
                _row(self.obstacle_depths[:, i], body=body, obstacle=obstacle)
                for i, (body, obstacle) in enumerate(self.obstacle_pairs)
            ],
        }


def _share(depths: np.ndarray) -> float:
    return float((depths > DEEP).any(axis=1).mean()) if len(depths) else 0.0


def _row(depths: np.ndarray, **of: str | list[str]) -> dict:
    """Return a row of plain data: how deep at most, where, and in which share of the frames."""
    return {
        **of,
        "mm": 1e3 * float(depths.max()),
        "frame": int(depths.argmax()),
        "frames": float((depths > DEEP).mean()),
    }
