"""Requests to a show, by keys and by OSC messages, and the rest of a show from an act on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.errors import ServoError
from robik.servo.play.controls import Controls
from robik.show.osc import Message, OscError
from robik.show.program import Program
from robik.show.requests import Ask, Request, Requests
from robik.show.show_file import Performer, Show

from .test_timeline import act, check_limits, stage


class Desk:
    """Messages as a listener gives them."""

    def __init__(self, *messages: Message | OscError) -> None:
        self.left = list(messages)

    def messages(self) -> list[Message | OscError]:
        found, self.left = self.left, []
        return found


@pytest.mark.parametrize(
    ("keys", "ask"), [("\x1b", Ask.STOP), (" ", Ask.TOGGLE), ("N", Ask.NEXT), ("n", Ask.NEXT), ("x\x1b[A", None)]
)
def test_keys(keys: str, ask: Ask | None) -> None:
    typed = [keys, ""]
    pressed = Controls(lambda: typed.pop(0))
    requests = Requests(pressed, None, pytest.fail)
    pressed.look()
    assert requests.take() == ([Request(ask)] if ask else [])
    pressed.look()
    assert requests.take() == []


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        (Message("/robik/act", ("bow",)), Request(Ask.ACT, "bow")),
        (Message("/robik/act", (2,)), Request(Ask.ACT, "2")),
        (Message("/robik/act", (2.0,)), Request(Ask.ACT, "2")),
        (Message("/robik/act/bow", (1.0,)), Request(Ask.ACT, "bow")),
        (Message("/robik/act/bow"), Request(Ask.ACT, "bow")),
        (Message("/robik/act/bow", (0.0,)), None),
        (Message("/robik/next", (1.0,)), Request(Ask.NEXT)),
        (Message("/robik/next", (0.0,)), None),
        (Message("/robik/stop"), Request(Ask.STOP)),
        (Message("/robik/pause", (True,)), Request(Ask.PAUSE)),
        (Message("/robik/resume"), Request(Ask.RESUME)),
    ],
)
def test_messages(message: Message, request_: Request | None) -> None:
    requests = Requests(Controls(), Desk(message, message), pytest.fail)
    assert requests.take() == ([request_] if request_ else [])


def test_what_is_no_request_is_told_once_and_changes_nothing() -> None:
    wrong = [
        Message("/robik/act"),
        Message("/robik/act", (1.5,)),
        Message("/robik/act", (True,)),
        Message("/other"),
        OscError("a text that does not end"),
    ]
    told: list[str] = []
    requests = Requests(Controls(), Desk(*wrong, *wrong), told.append)
    assert requests.take() == []
    assert told == [
        "warning: OSC: /robik/act needs the name of an act, or its number",
        "warning: OSC: /other is not known;"
        " there are /robik/stop, /robik/pause, /robik/resume, /robik/next, /robik/act",
        "warning: OSC: a text that does not end",
    ]
    many = Desk(*(Message(f"/{k}") for k in range(1000)))
    Requests(Controls(), many, told.append).take()
    assert len(told) < 30


def program(*acts) -> Program:
    on = stage("ann", "bob")
    robots = {name: Performer(servos=Path("it.servos.json"), port="sim") for name in on.chains}
    show = Show(path=Path("it.show.json"), robots=robots, acts=acts)
    return Program(show, on.chains, on.timeline(acts, 40.0), 0.0, (), (), on)


def test_from_an_act_on_the_show_is_as_it_was() -> None:
    it = program(act(ann="swing", bob="bow"), act(ann="bow"), act(start=20.0, ann="round"))
    whole = it.timeline
    for number in range(3):
        rest, start = it.from_act(number)
        assert [one.start + start for one in rest.acts] == pytest.approx([one.start for one in whole.acts[number:]])
        assert set(rest.motions) == ({"ann", "bob"} if number == 0 else {"ann"})
        assert rest.duration + start == pytest.approx(40.0)
        begun = rest.acts[0].start + 0.5
        motion = rest.motions["ann"]
        check_limits(motion)
        columns = [
            [np.interp(when, one.times, column) for column in one.values.T]
            for one, when in ((motion, begun), (whole.motions["ann"], begun + start))
        ]
        assert columns[0] == pytest.approx(columns[1])


def test_acts_by_their_names_and_numbers() -> None:
    it = program(act(ann="swing", bob="bow"), act(start=20.0, ann="bow"))
    assert [it.act_at(when) for when in (-1.0, 0.0, 19.9, 20.0, 99.0)] == [0, 0, 0, 1, 1]
    assert (it.act_called("1"), it.act_called("2")) == (0, 1)
    for name in ("0", "3", "", "bow", "²", "-1"):
        with pytest.raises(ServoError, match=f"there is no act '{name}'; there are 1, 2"):
            it.act_called(name)
