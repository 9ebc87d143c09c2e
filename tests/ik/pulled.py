"""Settings with the paper's pull towards the previous state, so weak that it decides only what targets leave open."""

from robik.objectives.settings import Settings

PULLED = Settings(state_weight=1e-7)
