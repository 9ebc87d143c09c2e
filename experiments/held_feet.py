"""Figures of bakes with held feet and a balance over them: characters on robots that stand on soles.

Slide, penetration and jumps as the field defines them, from the motion alone; when feet stand says the recording.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from experiments.walking_character import walking_character
from robik.bake.settings import BakeSettings
from robik.collision.files import told_collisions
from robik.collision.measure import measure_penetration
from robik.feet.finding import below_ground
from robik.feet.support import zero_moment_margins
from robik.motions.penetration import Penetration
from robik.recordings.recording import load_recording, part_of_time
from robik.recordings.retargeting import Retargeted, retarget_recording
from robik.robots import path as robot_path
from robik.skeleton.skeleton import SkeletonMotion

FOLDER = CHECKOUT.parent / "shared/data"
ROBOTS = {"g1": "unitree_g1/g1_29dof.xml", "h1": "unitree_h1/h1.xml"}  # in the folder; others come with RobIK
DANCE, ON_ONE_LEG = "bvh/05_20-mb.bvh", (0.9, 4.0)  # s
CASES = (
    ("g1", "walk"), ("g1", "dance"), ("g1", "one leg"), ("h1", "walk"), ("h1", "dance"),
    ("walker", "walk"), ("walker", "walk at half pace"),
)  # fmt: skip
INTO = 1.0  # mm: a foot that is further below the ground is in it
HELD, FLAT = 0.1, 0.1  # mm and degrees: what contacts are to be kept to
JUMP = 0.2  # rad in 1/120 s


def run(folder: str = str(FOLDER), robots: str = "g1,h1,walker") -> Found:
    """Retarget each clip, each once to compile and once to measure."""
    walk = walking_character()
    dance = load_recording(Path(folder) / DANCE)
    clips = {
        "walk": walk, "dance": dance, "one leg": part_of_time(dance, *ON_ONE_LEG),
        "walk at half pace": replace(walk, times=2.0 * walk.times),
    }  # fmt: skip
    asked = [case for case in CASES if case[0] in robots.split(",")]
    for robot in dict.fromkeys(robot for robot, _ in asked):
        _followed(folder, robot, part_of_time(dance, 1.0, 1.5))
    return {"held_feet": [_row(folder, robot, clip, clips[clip]) for robot, clip in asked]}


def _followed(folder: str, robot: str, clip: SkeletonMotion) -> Retargeted:
    file = Path(folder) / ROBOTS[robot] if robot in ROBOTS else robot
    return retarget_recording(file, clip, balance="auto", pin_feet=True, settings=BakeSettings(look_ahead=False))


def _penetration(folder: str, robot: str, found: Retargeted) -> Penetration:
    """Return how deep the robot goes into itself."""
    told = told_collisions(found.mechanism, Path(folder) / ROBOTS[robot] if robot in ROBOTS else robot_path(robot))
    return measure_penetration(found.mechanism, told.shapes, found.motion, apart=told.apart)


def _row(folder: str, robot: str, name: str, clip: SkeletonMotion) -> Found:
    """Return the figures of one bake."""
    tell(f"{robot}, {name}")
    began = process_time()
    found = _followed(folder, robot, clip)
    whole = process_time() - began
    motion, report = found.motion, found.motion.report
    assert report is not None  # a solved motion has one
    depths = _penetration(folder, robot, found)
    contacts = {name: track.contact for name, track in found.clip.tracks.items() if track.contact is not None}
    inside = zero_moment_margins(found.mechanism, motion, contacts)
    stands = np.isfinite(inside)
    sunk = 1e3 * below_ground(found.mechanism, found.clip, motion)
    return {
        "robot": robot,
        "clip": name,
        "frames": len(motion.times),
        "slide_mm_s": report.quality.slide_mm_s,
        "contact_off_mm": report.quality.contact_off_mm,
        "contact_turned_deg": report.quality.contact_turned_deg,
        "footholds_moved": len(report.moved),
        "self_penetration_mm": 1e3 * float(depths.depths.max(initial=0.0)),
        "frames_in_itself": round(depths.self_share * len(motion.times)),
        "floor_penetration_mm": float(sunk.max()),
        "frames_in_floor": int((sunk > INTO).sum()),
        "jump_rad": report.quality.jump_rad,
        "zero_moment_inside": float(np.mean(inside[stands] > 0.0)) if stands.any() else None,
        "com_error_max_mm": 1e3 * float(np.nanmax(report.com_error)),
        "ms_mean": float(report.milliseconds.mean()),
        "ms_longest": float(report.milliseconds.max()),
        "whole_s": whole,
    }


def show(found: Found) -> None:
    """Print the table; an exclamation mark where a figure is beyond what is wanted."""
    names = " slide  contact   turned   self  in it   floor  in it   jump     inside    CoM  frame longest    all"
    units = "  mm/s       mm        °     mm frames      mm frames    rad                mm     ms      ms      s"
    print(f"{'robot   clip':26} {names}\n{'':26} {units}")
    for row in found["held_feet"]:
        late = row["contact_off_mm"] > HELD or row["contact_turned_deg"] > FLAT
        into = row["frames_in_floor"] + row["frames_in_itself"] > 0
        bad = late or into or row["slide_mm_s"] > 1.0 or row["jump_rad"] > JUMP
        inside = row["zero_moment_inside"]
        print(
            f"{row['robot']:7} {row['clip']:18} {row['slide_mm_s']:6.2f} {row['contact_off_mm']:8.2g}"
            f" {row['contact_turned_deg']:8.2g} {row['self_penetration_mm']:6.1f} {row['frames_in_itself']:6d}"
            f" {row['floor_penetration_mm']:7.1f} {row['frames_in_floor']:6d}"
            f" {row['jump_rad']:6.3f} {'' if inside is None else f'{100 * inside:8.1f} %':>10}"
            f" {row['com_error_max_mm']:6.0f} {row['ms_mean']:6.2f} {row['ms_longest']:7.1f} {row['whole_s']:6.1f}"
            f"{' !' if bad else ''}"
        )


EXPERIMENT = Experiment(run=run, show=show, parameters={"folder": (str(FOLDER),) * 2, "robots": ("g1,h1,walker",) * 2})
