"""Test of a motion in physics: whether the robot falls, in MuJoCo, in a process of its own.

plan       what is simulated: the robot's MJCF, goals and what the motion has in mind
trials     disturbances
simulation the simulation itself, in the other process
process    starting, watching and ending that process
verdict    what came out, in words and numbers
"""

from .plan import Plan, planned
from .process import run
from .trials import NOMINAL, SINGLE, Trial, draws
from .verdict import Verdict

__all__ = ["NOMINAL", "SINGLE", "Plan", "Trial", "Verdict", "draws", "planned", "run"]
