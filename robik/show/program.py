"""Program of a show: its files read and checked, without opening a port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import MissingExtraError, RobikError, ServoError
from ..motions import Motion, load_motion, values_for
from ..motions.format import Companions
from ..servo.chain.chain import ServoChain
from ..servo.chain.file import load_chain
from ..servo.chain.port_name import SIMULATED, device_of
from ..servo.play.preflight import preflight
from ..servo.port.outside import ports_of
from ..servo.port.status import PlaySettings
from .show_file import Show
from .sound import WITHOUT_SOUND, seconds_of
from .timeline import Stage, Timeline


@dataclass(frozen=True)
class Program:
    """Content of a show as it would play, and what is wrong with it.

    Attributes:
        show: as its file says it.
        chains: by the robots' names, as far as they can be read.
        timeline: None where it cannot be made.
        stage: what it is made with; None as well.
        sound_seconds: of the sound that is played [s]; 0 without one.
        problems: which forbid playing.
        warnings: what the user should know.
    """

    show: Show
    chains: Mapping[str, ServoChain]
    timeline: Timeline | None
    sound_seconds: float
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    stage: Stage | None = None

    @property
    def duration(self) -> float:
        """Return how long the show takes [s]."""
        assert self.timeline is not None
        return self.timeline.duration

    def act_at(self, seconds: float) -> int:
        """Return the number, from 0 on, of the act that began last at a time of the show [s]."""
        assert self.timeline is not None
        begun = [k for k, act in enumerate(self.timeline.acts) if act.start <= seconds]
        return max(begun, default=0)

    def act_called(self, name: str) -> int:
        """Return the number, from 0 on, of an act by its name or its number, from 1 on.

        A ServoError lists the acts that there are.
        """
        names = [act.name for act in self.show.acts]
        if name in names and name:
            return names.index(name)
        if name.isdecimal() and 1 <= int(name) <= len(names):
            return int(name) - 1
        listed = ", ".join(one or str(k) for k, one in enumerate(names, 1))
        raise ServoError(f"there is no act {name!r}; there are {listed}")

    def from_act(self, number: int) -> tuple[Timeline, float]:
        """Return the timeline from an act (0 on), the acts as far apart as before, and the time at which it begins [s].

        It has the robots that still have a motion. Raise RobikError if it cannot be played from there.
        """
        assert self.stage is not None
        assert self.timeline is not None
        begun = self.timeline.acts[number:]
        playing = {name for one in begun for name in one.act.parts}
        stage = replace(self.stage, chains={name: self.chains[name] for name in self.chains if name in playing})
        first = stage.timeline((replace(begun[0].act, start=None),)).acts[0].start
        shift = begun[0].start - first
        acts = tuple(replace(one.act, start=one.start - shift) for one in begun)
        return stage.timeline(acts, self.timeline.duration - shift), shift

    def lines(self) -> list[str]:
        """Return what would play, a line each."""
        if self.timeline is None:
            return []
        said = [f"{name}: {len(chain.servos)} servos on {self.show.robots[name].port}"
                for name, chain in self.chains.items()]  # fmt: skip
        for k, begun in enumerate(self.timeline.acts, 1):
            files = ", ".join(f"{name} {part.motion.name}" + (f" × {part.repeat}" if part.repeat > 1 else "")
                              for name, part in begun.act.parts.items())  # fmt: skip
            called = f" ({begun.act.name})" if begun.act.name else ""
            said.append(f"{begun.start:8.2f} to {begun.end:8.2f} s  act {k}{called}: {files}")
        if self.show.sound is not None and self.sound_seconds:
            start, end = self.show.sound_start, self.show.sound_start + self.sound_seconds
            said.append(f"{start:8.2f} to {end:8.2f} s  sound: {self.show.sound.name}")
        return [*said, f"{self.duration:.2f} s in all; if a robot fails, the others {_fate(self.show)}"]


def _fate(show: Show) -> str:
    return "go on" if show.goes_on else "stop"


def read_program(
    show: Show,
    settings: PlaySettings,
    softens: bool = False,
    is_silent: bool = False,
    may_lose_hold: bool = False,
) -> Program:
    """Read and check everything that a show names, and return what would play, and all that is wrong.

    With `softens`, motions that ask too much of the servos are rounded off; with `is_silent`, the sound is left
    out.
    """
    problems: list[str] = []
    warnings: list[str] = []
    chains: dict[str, ServoChain] = {}
    for name, robot in show.robots.items():
        try:
            chains[name] = load_chain(robot.servos).as_at(robot.port)
        except RobikError as error:
            problems.append(f"{name}: {error}")
    problems += _port_problems(show, chains)
    motions = _motions(show, may_lose_hold, problems, warnings)
    seconds = 0.0
    if show.sound is not None and not is_silent:
        try:
            seconds = seconds_of(show.sound)
        except MissingExtraError as error:
            warnings.append(f"{error}; {WITHOUT_SOUND}")
        except RobikError as error:
            problems.append(str(error))
    if problems:
        return Program(show, chains, None, seconds, tuple(problems), tuple(warnings))
    stage = Stage(chains, motions, settings.approach_speed, settings.rate, softens)
    try:
        timeline = stage.timeline(show.acts, show.sound_start + seconds if seconds else 0.0)
    except RobikError as error:
        return Program(show, chains, None, seconds, (str(error),), tuple(warnings))
    warnings += dict.fromkeys(stage.notes)
    for name, chain in chains.items():
        checked = preflight(timeline.motions[name], chain, settings)
        problems += [f"{name}: {problem}" for problem in checked.problems]
        warnings += [f"{name}: {warning}" for warning in (*_left_out(name, chain, motions), *checked.warnings)]
    return Program(show, chains, timeline, seconds, tuple(problems), tuple(warnings), stage)


def _motions(
    show: Show, may_lose_hold: bool, problems: list[str], warnings: list[str]
) -> dict[tuple[str, object], Motion]:
    """Return the motions by robot and file, and add what is wrong with them to problems and warnings."""
    motions: dict[tuple[str, object], Motion] = {}
    for name, path in dict.fromkeys((name, part.motion) for act in show.acts for name, part in act.parts.items()):
        try:
            motions[name, path] = _motion(path, show.robots[name].robot)
            if lost := _lost_hold(motions[name, path], path, show.robots[name].robot):
                (warnings if may_lose_hold else problems).append(f"{name}: {path.name}: {lost}")
        except RobikError as error:
            problems.append(f"{name}: {error}")
    return motions


def _motion(path: Path, robot: str) -> Motion:
    if not robot:
        return load_motion(path)
    from ..retargeting.following_poses import follow_poses
    from ..robots import load

    return load_motion(path, companions=Companions(robot=load(robot), follow=follow_poses))


def _lost_hold(motion: Motion, path: Path, robot: str) -> str:
    """Return where the motors of a robot lose hold of it; empty where they keep it, or no robot is named."""
    if not robot:
        return ""
    from ..report.motor_hold import hold_along
    from ..robots import load

    mechanism = load(robot)
    hold = hold_along(mechanism, values_for(mechanism, motion, path))
    return hold.in_seconds(motion.times) if hold else ""


def _left_out(name: str, chain: ServoChain, motions: Mapping[tuple[str, object], Motion]) -> list[str]:
    columns = dict.fromkeys(one for (whose, _), motion in motions.items() if whose == name for one in motion.actuators)
    return [f"{one} has no servo and is left out" for one in columns if one not in chain.actuators]


def _port_problems(show: Show, chains: Mapping[str, ServoChain]) -> list[str]:
    """Say which ports two robots would open."""
    owner: dict[str, str] = {}
    problems = []
    for name, chain in chains.items():
        port = show.robots[name].port
        for one in () if port == SIMULATED else ports_of(chain, port):
            other = owner.setdefault(device_of(one), name)
            if other != name:
                problems.append(f"{other} and {name} are both on {one}; each robot needs a port of its own")
    return problems


def check(program: Program) -> None:
    """Raise a ServoError that names a show's problems, if there are any."""
    if program.problems:
        raise ServoError("; ".join(program.problems))
