"""Test of a motion in physics: whether the robot falls, in MuJoCo, in a process of its own.

plan       what is simulated: the robot's MJCF, goals and what the motion has in mind
process    starting, watching and ending that process (`robik/simulation`)
falling    how near to a fall the robot came, and how it fell
verdict    what came out, in words and numbers
rehearsal  a motion that falls, changed while it is played until it stands
likeness   what that cost
"""

from ..simulation.trials import NOMINAL, SINGLE, Trial, draws
from .plan import Plan, planned
from .process import run
from .rehearsal import Rehearsal, rehearse
from .verdict import Verdict

__all__ = ["NOMINAL", "SINGLE", "Plan", "Rehearsal", "Trial", "Verdict", "draws", "planned", "rehearse", "run"]
