"""Figures of quality of a motion, as the field defines them: what its contacts do, and how its joints jump."""

from __future__ import annotations

import numpy as np

from ..contacts.contact import hold_of
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..motions.report import Quality
from .clip import TargetClip
from .contacts import below_ground
from .held_contacts import HeldTrack, held_tracks
from .shortfall import millimetres

CONTACT_MET = 1e-4  # of the robot's extent: 0.05 mm for one of half a metre
CONTACT_TURNED = 1e-3  # rad
JUMP_TIME = 1.0 / 120.0  # s: a jump is what a joint turns by in this time


def measure_quality(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> Quality:
    """Return the figures of a motion that follows a clip.

    Args:
        mechanism: The robot.
        clip: With contact phases where something stands.
        motion: At the clip's times, with body poses.

    Returns:
        Figures of slide, penetration, jumps and balance.
    """
    held = held_tracks(clip)
    slides, floats, off, turned = [], [], np.zeros(len(clip.times)), [0.0]
    for name, track in held.items():
        points, held_points = _touching(mechanism, name, track, motion)
        stands = track.contact.stands
        both = stands[1:] & stands[:-1]
        moved = np.diff(points, axis=0) - np.diff(held_points, axis=0)
        speed = np.linalg.norm(moved, axis=2).mean(axis=1) / np.diff(clip.times)
        slides.append(speed[both])
        floats.append((points[..., 2].min(axis=1) - held_points[..., 2].min(axis=1))[stands])
        distance, angle = contact_gaps(mechanism, name, track, motion)
        off = np.fmax(off, distance)
        turned.append(float(np.nanmax(angle)))
    turning = [unit == "rad" for unit in mechanism.actuator_units]
    speeds = np.abs(np.diff(motion.values[:, turning], axis=0)) / np.diff(clip.times)[:, None]
    if not held:
        return Quality(jump_rad=float(speeds.max(initial=0.0) * JUMP_TIME))
    slide = np.concatenate(slides)
    return Quality(
        slide_mm_s=1e3 * float(slide.mean()) if len(slide) else 0.0,
        float_mm=1e3 * max(float(np.concatenate(floats).max()), 0.0),
        floor_penetration_mm=1e3 * float(below_ground(mechanism, clip, motion).max()),
        contact_off_mm=1e3 * float(off.max()),
        contact_turned_deg=float(np.degrees(max(turned))),
        contact_sample=int(off.argmax()),
        jump_rad=float(speeds.max(initial=0.0) * JUMP_TIME),
    )


def contact_gaps(mechanism: Mechanism, name: str, track: HeldTrack, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances and angles of a frame in contact from where it is held.

    Args:
        mechanism: The robot.
        name: Of the frame.
        track: Its track and contact.
        motion: With body poses.

    Returns:
        Distances (T,) [m] and angles (T,) [rad], NaN where it does not stand.
    """
    contact = track.contact
    position, quaternion = _poses(motion)
    hold = hold_of(mechanism, name, contact.oriented)
    gaps = hold.gap(*frame_poses(mechanism, name, position, quaternion), contact.position, contact.rotation)
    distance, angle = (np.where(contact.stands, gap, np.nan) for gap in gaps)
    return distance, angle


def late_contacts(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> dict[int, list[str]]:
    """Return, in words and by frame, the contacts that are not where they are held.

    Args:
        mechanism: The robot.
        clip: The targets.
        motion: The motion, with bodies' poses.

    Returns:
        Sentences by index of the sample.
    """
    found: dict[int, list[str]] = {}
    for name, track in held_tracks(clip).items():
        distance, angle = contact_gaps(mechanism, name, track, motion)
        for k in np.flatnonzero((distance > CONTACT_MET * mechanism.extent) | (angle > CONTACT_TURNED)).tolist():
            turned = f", turned by {np.degrees(angle[k]):.2g}°" if angle[k] > CONTACT_TURNED else ""
            found.setdefault(k, []).append(f"contact of {name} late by {millimetres(distance[k])}{turned}")
    return found


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
