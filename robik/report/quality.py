"""Figures of quality of a motion, as the field defines them: of its contacts, its limbs and its joints' jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..clip_solver.bounds import differences
from ..clips.clip import TargetClip
from ..feet.contact import hold_of
from ..feet.finding import depth_below, ground_of, standing_feet
from ..feet.held_contacts import HeldTrack, held_tracks
from ..feet.support import standing_points
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..motions.penetration import DEEP
from ..motions.report import Quality
from .kept_balance import with_balance_figures
from .limb_directions import LimbDirections
from .shortfall import millimetres
from .swing_figures import Swings

CONTACT_MET = 1e-4  # of the robot's extent: 0.05 mm for one of half a metre
CONTACT_TURNED = 1e-3  # rad
JUMP_TIME = 1.0 / 120.0  # s: a jump is what a joint turns by in this time


class QualityFigures:
    """Figures of a motion's contacts and limbs, gathered block by block.

    `held` has contact and held pose by frame.
    """

    def __init__(self, mechanism: Mechanism, clip: TargetClip):
        self._mechanism, self._times = mechanism, clip.times
        self.held = held_tracks(clip)
        self._ground = ground_of(mechanism, clip) if self.held else None
        self._feet = standing_feet(mechanism, clip)
        self._slides: dict[str, list[np.ndarray]] = {name: [] for name in self.held}
        self._floats: dict[str, list[np.ndarray]] = {name: [] for name in self.held}
        self._gaps: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in self.held}
        self._before: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._sunk: list[np.ndarray] = []
        self._above: dict[str, list[np.ndarray]] = {name: [] for name in self._feet}
        self._limbs = LimbDirections(mechanism, clip)

    def add(self, frames: slice, position: np.ndarray, quaternion: np.ndarray) -> None:
        """Add the next frames, by positions (B, n, 3) [m] and quaternions (B, n, 4) wxyz of the bodies' own frames."""
        self._limbs.add(frames, position, quaternion)
        if not self.held:
            return
        motion = Motion(
            times=self._times[frames],
            actuators=(),
            values=np.zeros((frames.stop - frames.start, 0)),
            bodies=tuple(body.name for body in self._mechanism.bodies),
            position=position,
            quaternion=quaternion,
        )
        if self._ground is not None:
            ground = self._ground.part(frames)
            self._sunk.append(depth_below(self._mechanism, ground, self._feet, motion))
            for name, above in self._above.items():
                above.append(ground.above(standing_points(self._mechanism, motion, name)).min(axis=1))
        for name, track in self.held.items():
            self._add(name, frames, track.part(frames), motion)

    def _add(self, name: str, frames: slice, track: HeldTrack, motion: Motion) -> None:
        """Take the next frames of one contact in."""
        points, held_points = _touching(self._mechanism, name, track, motion)
        stands = self.held[name].contact.stands
        self._floats[name].append((points[..., 2].min(axis=1) - held_points[..., 2].min(axis=1))[stands[frames]])
        self._gaps[name].append(contact_gaps(self._mechanism, name, track, motion))
        first = frames.start
        last, self._before[name] = self._before.get(name), (points[-1:].copy(), held_points[-1:].copy())
        if last is not None:
            first -= 1
            points, held_points = np.concatenate([last[0], points]), np.concatenate([last[1], held_points])
        both = stands[first + 1 : frames.stop] & stands[first : frames.stop - 1]
        moved = np.diff(points, axis=0) - np.diff(held_points, axis=0)
        speed = np.linalg.norm(moved, axis=2).mean(axis=1) / np.diff(self._times[first : frames.stop])
        self._slides[name].append(speed[both])

    def quality(self, values: np.ndarray, jerk: np.ndarray) -> Quality:
        """Return figures of contacts, limbs and jumps, once all frames are added.

        Values [rad or m] and jerk [rad/s³ or m/s³] are (T, A) of the actuators.
        """
        turning = [unit == "rad" for unit in self._mechanism.actuator_units]
        speeds = np.abs(np.diff(values[:, turning], axis=0)) / np.diff(self._times)[:, None]
        moves = Quality(
            jump_rad=float(speeds.max(initial=0.0) * JUMP_TIME),
            jerk_rad_s3=float(np.sqrt(np.mean(jerk[:, turning] ** 2))) if any(turning) else 0.0,
            directions_deg=self._limbs.means(),
        )
        return replace(moves, **self._of_contacts()) if self.held else moves

    def _of_contacts(self) -> dict[str, Any]:
        """Return the figures of contacts by name."""
        off, turned, sunk = np.zeros(len(self._times)), [0.0], np.concatenate([np.zeros(1), *self._sunk])
        for distance, angle in map(self._gap, self.held):
            off = np.fmax(off, distance)
            turned.append(float(np.nanmax(angle)))
        slide, floats = (
            np.concatenate([part for parts in found.values() for part in parts])
            for found in (self._slides, self._floats)
        )
        return {
            "slide_mm_s": 1e3 * float(slide.mean()) if len(slide) else 0.0,
            "float_mm": 1e3 * max(float(floats.max()), 0.0),
            "floor_penetration_mm": 1e3 * float(sunk.max()),
            "floor_penetration_frames": float((sunk > DEEP).sum() / len(self._times)),
            **self._of_swings(),
            "contact_off_mm": 1e3 * float(off.max()),
            "contact_turned_deg": float(np.degrees(max(turned))),
            "contact_sample": int(off.argmax()),
        }

    def _of_swings(self) -> dict[str, float | None]:
        """Return the least clearance of a swing and the largest speed of a landing; None without swings."""
        swings = [
            Swings.of(self._times, self.held[name].contact.stands, np.concatenate(above))
            for name, above in self._above.items()
        ]
        clear, landing = (
            np.array([value for found in swings for value in found[k]]) for k in range(len(Swings._fields))
        )
        return {
            "clearance_mm": 1e3 * float(clear.min()) if len(clear) else None,
            "landing_mm_s": 1e3 * float(landing.max()) if len(landing) else None,
        }

    def late(self) -> dict[int, list[str]]:
        """Return, in words and by sample, the contacts that are not where they are held."""
        found: dict[int, list[str]] = {}
        for name in self.held:
            distance, angle = self._gap(name)
            too_far = distance > CONTACT_MET * self._mechanism.extent
            for k in np.flatnonzero(too_far | (angle > CONTACT_TURNED)).tolist():
                turned = f", turned by {np.degrees(angle[k]):.2g}°" if angle[k] > CONTACT_TURNED else ""
                found.setdefault(k, []).append(f"contact of {name} late by {millimetres(distance[k])}{turned}")
        return found

    def _gap(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (T,) [m] and angles (T,) [rad] of a contact from where it is held."""
        distance, angle = (np.concatenate(parts) for parts in zip(*self._gaps[name], strict=True))
        return distance, angle


def measure_quality(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> Quality:
    """Return the figures of a motion's contacts, balance, limbs and jumps, against a clip of the same times.

    The motion has body poses. Figures of bodies in each other are kept as its report has them.
    """
    figures = QualityFigures(mechanism, clip)
    figures.add(slice(0, len(motion.times)), *_poses(motion))
    jerk = np.zeros_like(motion.values)
    jerk[2:-1] = differences(motion.times)[2].of(motion.values)
    quality = with_balance_figures(figures.quality(motion.values, jerk), mechanism, clip, motion)
    judged = motion.report.quality if motion.report else Quality()
    return replace(
        quality,
        self_penetration_mm=judged.self_penetration_mm,
        self_penetration_frames=judged.self_penetration_frames,
    )


def contact_gaps(mechanism: Mechanism, name: str, track: HeldTrack, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return distances (T,) [m] and angles (T,) [rad] of a frame from its hold, NaN where it is not in contact."""
    contact = track.contact
    position, quaternion = _poses(motion)
    hold = hold_of(mechanism, name, contact.oriented)
    gaps = hold.gap(*frame_poses(mechanism, name, position, quaternion), contact.position, contact.rotation)
    distance, angle = (np.where(contact.stands, gap, np.nan) for gap in gaps)
    return distance, angle


def _touching(mechanism: Mechanism, name: str, track: HeldTrack, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return what touches, a sole's points or a frame's origin, where it is and where it is held: (T, S, 3) [m]."""
    local = np.array(mechanism.frame(name).sole or [(0.0, 0.0, 0.0)])
    x, R = frame_poses(mechanism, name, *_poses(motion))
    found, held = (
        np.einsum("tij,sj->tsi", turn, local) + place[:, None]
        for place, turn in ((x, R), (track.contact.position, track.contact.rotation))
    )
    return found, held


def _poses(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    assert motion.position is not None and motion.quaternion is not None  # a solved motion has them
    return motion.position, motion.quaternion
