"""Settings of the paper: a pull to the previous state so weak that it decides only what targets leave open, no walls."""

from robik.objectives.settings import Settings

PULLED = Settings(state_weight=1e-7, hold=0.0)
