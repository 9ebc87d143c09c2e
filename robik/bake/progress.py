"""Progress of a bake."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of a bake.

    Attributes:
        share: of the whole, 0 to 1.
        stage: what is being done, in words.
        done: samples that are solved in this stage; 0 where these are not counted.
        is_planning: whether the clip is being adjusted, of which nobody knows how long it takes.
    """

    share: float
    stage: str
    done: int = 0
    is_planning: bool = False
