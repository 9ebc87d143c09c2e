"""Settings of the paper: a pull to the previous state that decides only what targets leave open, and no walls."""

from robik.objectives.settings import Settings

PULLED = Settings(state_weight=1e-7, hold=0.0)
