"""Target clip of a bake: the character sampled in the robot's coordinates, with contacts set by hand."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from bpy.types import Context

from ...robik.bake.settings import OBJECT
from ...robik.clips.clip import TargetClip
from ...robik.mechanism import Mechanism
from ...robik.mechanism.orientations import rotation
from ...robik.steps import relay
from ..animation.evaluation import times_of
from ..balance.centre_of_mass import Balance
from ..balance.contacts import with_hand_contacts
from ..character.asked import asked_for
from ..character.mapping import CharacterMapping, check_object, track
from ..character.sampling import sample_sources
from ..long_work.steps import Progress
from ..robot import posing
from .request import SceneRequest
from .surroundings import Surroundings

SAMPLING = 0.4  # part of the progress bar that sampling takes


def sample_clip(context: Context, request: SceneRequest) -> Generator[Progress, None, TargetClip]:
    """Sample what the robot shall follow at the frames that balance looks at, in its coordinates, before balance."""
    planned = request.planned
    sampled = yield from sample_tracks(
        context, request.mechanism, request.mapping, request.balance, planned, request.surroundings
    )
    return with_hand_contacts(sampled, request.mapping.targets, planned)


def sample_tracks(
    context: Context,
    mechanism: Mechanism,
    mapping: CharacterMapping,
    balance: Balance,
    frames: np.ndarray,
    surroundings: Surroundings,
) -> Generator[Progress, None, TargetClip]:
    """Sample what targets and centre of mass follow at frames (T,) of the scene, and the ways of what is around.

    All are in the robot's coordinates. Contacts are left out.
    """
    led = [target for target in mapping.asked if target.source is not None]
    points = [check_object(balance.target, "the centre of mass", context.scene)] if balance.mode == OBJECT else []
    points += surroundings.objects
    with posing.paused():
        positions, turns = yield from relay(
            sample_sources(context, [*mapping.targets, *led], points, frames),
            lambda done: Progress(SAMPLING * done / len(frames), f"Sampling frame {frames[done - 1]:g}"),
        )
    tracks = {t.frame: track(t, positions[:, i], turns[:, i], mapping.placement) for i, t in enumerate(mapping.targets)}
    places = {target.frame: (positions[:, i], turns[:, i]) for i, target in enumerate(mapping.targets)}
    number = len(mapping.targets)
    sources = {mapping.asked.index(t): (positions[:, number + i], turns[:, number + i]) for i, t in enumerate(led)}
    asked = asked_for(mechanism, mapping.asked, sources, places, mapping.placement, len(frames))
    after, com = number + len(led), None
    if balance.mode == OBJECT:
        com = mapping.placement.apply(positions[:, after], rotation(turns[:, after]))[0]
        after += 1
    clip = TargetClip(times_of(context.scene, frames), tracks, com=com, objectives=asked)
    return surroundings.around(clip, positions[:, after:], turns[:, after:])
