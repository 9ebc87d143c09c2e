"""Motions and their files."""

from .format import Companions, MotionFormat, ServoCounts
from .motion import BaseTrack, Motion, values_for
from .registry import FORMATS, load_motion, save_motion
from .report import LookAhead, Report, SpeedCost
from .results import load_states, report_summary, save_report, save_states

__all__ = [
    "FORMATS", "BaseTrack", "Companions", "LookAhead", "Motion", "MotionFormat", "Report", "ServoCounts", "SpeedCost",
    "load_motion", "load_states", "report_summary", "save_motion", "save_report", "save_states", "values_for",
]  # fmt: skip
