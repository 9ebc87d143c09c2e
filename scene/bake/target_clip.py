"""Target clip of a bake: the character sampled in the robot's coordinates, with contacts and balance."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np
from bpy.types import Context

from ...robik.clips.clip import TargetClip
from ...robik.collision.apart import Walls
from ...robik.mechanism import Mechanism
from ...robik.mechanism.orientations import rotation
from ...robik.retarget.baking import OBJECT, balancing
from ...robik.retarget.seams import led_through
from ...robik.steps import relay
from ..balance.centre_of_mass import Balance
from ..balance.contacts import with_hand_contacts
from ..character.asked import asked_for
from ..character.mapping import CharacterMapping, check_object, track
from ..character.sampling import sample_sources, times_of
from ..long_work.steps import Progress, in_thread
from ..robot import posing
from .request import BakeRequest
from .surroundings import Surroundings

SAMPLING = 0.4  # part of the progress bar that sampling takes


def sample_clip(
    context: Context, request: BakeRequest, walls: Callable[[], Walls | None] | None = None
) -> Generator[Progress, None, TargetClip]:
    """Sample what the robot shall follow at the frames that are solved, in its coordinates, balanced as asked for.

    Args:
        context: With the scene.
        request: What the robot's panels ask for.
        walls: Makes what keeps the robot's bodies apart, where they are to; touches nothing of Blender's.

    Raises:
        RobikError: a target follows something that is not there, or balance is not possible.
    """
    clip = yield from sample_unbalanced(context, request)
    planned = request.planned
    first = int(np.searchsorted(planned, request.solved[0]))
    found: list[TargetClip] = []
    for share in in_thread(_balanced(clip, request, walls, found)):
        yield Progress(SAMPLING, "Planning balance" if share else "Planning balance, first for one mass", counts=False)
    clip = found[0].part(first, first + len(request.solved))
    present = request.present
    if present is None or present.own_range is None:
        return clip
    return led_through(request.mechanism, clip, present.own_range, present.share)


def sample_unbalanced(context: Context, request: BakeRequest) -> Generator[Progress, None, TargetClip]:
    """As `sample_clip`, but without balance, at the frames that balance looks at."""
    planned = request.planned
    sampled = yield from sample_tracks(
        context, request.mechanism, request.mapping, request.balance, planned, request.surroundings
    )
    return with_hand_contacts(sampled, request.mapping.targets, planned)


def _balanced(
    clip: TargetClip, request: BakeRequest, walls: Callable[[], Walls | None] | None, found: list[TargetClip]
) -> Iterator[float]:
    """Yield the share of the balance that is planned; the clip ends up in `found`. Nothing here touches Blender."""
    apart = walls() if walls else None
    found.append((yield from balancing(clip, request.mechanism, request.balance, request.settings, apart)))


def sample_tracks(
    context: Context,
    mechanism: Mechanism,
    mapping: CharacterMapping,
    balance: Balance,
    frames: np.ndarray,
    surroundings: Surroundings,
) -> Generator[Progress, None, TargetClip]:
    """Sample what targets and centre of mass follow at frames (T,) of the scene, in the robot's coordinates.

    And the ways of what is around the robot.

    Contacts are left out.

    Raises:
        RobikError: a target follows something that is not there.
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
