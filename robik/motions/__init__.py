"""Motions and their files."""

from robik.motions.format import Companions, MotionFormat, ServoCounts
from robik.motions.motion import BaseTrack, Motion, values_for
from robik.motions.registry import FORMATS, load_motion, save_motion
from robik.motions.report import Report, SpeedCost
from robik.motions.results import load_states, report_summary, save_report, save_states

__all__ = [
    "FORMATS", "BaseTrack", "Companions", "Motion", "MotionFormat", "Report", "ServoCounts", "SpeedCost", "load_motion",
    "load_states", "report_summary", "save_motion", "save_report", "save_states", "values_for",
]  # fmt: skip
