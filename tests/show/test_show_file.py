"""Show files: what is read of them, and the sentence for each that is wrong."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from robik.errors import FormatError
from robik.show.show_file import load_show

GOOD = {
    "format": "robik-show",
    "version": 1,
    "robots": {"ann": {"servos": "a.servos.json", "port": "/dev/a"}, "bob": {"servos": "b.servos.json", "port": "sim"}},
    "sound": "song.wav",
    "sound_start": -1.5,
    "others": "go on",
    "acts": [
        {"motions": {"ann": "wave.csv", "bob": {"motion": "bow.csv", "range": [1, 2.5], "speed": 2, "repeat": 3}}},
        {"name": " bow ", "start": 12, "motions": {"ann": "bow.csv"}},
    ],
}


def written(folder, data):
    path = folder / "it.show.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_a_show_and_what_is_left_out_of_it(tmp_path) -> None:
    show = load_show(written(tmp_path, GOOD))
    assert list(show.robots) == ["ann", "bob"]
    assert (show.robots["ann"].servos, show.robots["ann"].port) == (tmp_path / "a.servos.json", "/dev/a")
    assert (show.sound, show.sound_start, show.goes_on) == (tmp_path / "song.wav", -1.5, True)
    assert [(act.start, act.name) for act in show.acts] == [(None, ""), (12.0, "bow")]
    bow = show.acts[0].parts["bob"]
    assert (bow.motion, bow.range, bow.speed, bow.repeat) == (tmp_path / "bow.csv", (1.0, 2.5), 2.0, 3)
    wave = show.acts[0].parts["ann"]
    assert (wave.motion, wave.range, wave.speed, wave.repeat) == (tmp_path / "wave.csv", None, 1.0, 1)
    least = {key: GOOD[key] for key in ("format", "version", "robots", "acts")}
    assert (load_show(written(tmp_path, least)).sound, load_show(written(tmp_path, least)).goes_on) == (None, False)


def changed(*place, to):
    """Return the good show with another value somewhere; none where `to` is Ellipsis."""
    data = deepcopy(GOOD)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    if to is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = to
    return data


WRONG = [
    ("[1, 2", r"it\.show\.json"),
    ("[]", 'it must be an object with "format": "robik-show"'),
    (changed("format", to="robik-chain"), 'it must be an object with "format": "robik-show"'),
    (changed("version", to=2), "version 2 is not known; this RobIK reads version 1"),
    (changed("robots", to={}), '"robots" must be an object with a robot or more'),
    (changed("robots", to=["ann"]), '"robots" must be an object'),
    (changed("robots", "ann", "port", to=...), 'robot ann: "port" is missing'),
    (changed("robots", "ann", "port", to=5), 'robot ann: "port" must be a text, not 5'),
    (changed("robots", "ann", "baud", to=5), "robot ann: unknown entry 'baud'; there are servos, port, robot"),
    (changed("robots", "cat", to={"servos": "c.json", "port": "c"}), "no act has a motion for cat"),
    (changed("robots", " ", to={"servos": "c.json", "port": "c"}), "' ' is no name for a robot"),
    (changed("acts", to=[]), '"acts" must be a list with an act or more'),
    (changed("acts", 0, to="wave.csv"), "act 1 must be an object with name, start, motions, not 'wave.csv'"),
    (changed("acts", 1, "motions", to={}), 'act 2: "motions" must be an object'),
    (changed("acts", 1, "motions", to={"eve": "wave.csv"}), "act 2: there is no robot 'eve'; there are ann, bob"),
    (changed("acts", 1, "name", to=""), 'act 2: "name" must be a text'),
    (changed("acts", to=[GOOD["acts"][0], *GOOD["acts"][1:] * 2]), "two acts are called 'bow'; give each a name"),
    (changed("acts", 1, "start", to=-1), 'act 2: "start" must be a number of at least 0, not -1'),
    (changed("acts", 1, "start", to=True), 'act 2: "start" must be a number'),
    (changed("acts", 1, "start", to=float("nan")), 'act 2: "start" must be a number'),
    (changed("acts", 0, "motions", "bob", "speed", to=0), 'act 1, bob: "speed" must be above 0'),
    (changed("acts", 0, "motions", "bob", "repeat", to=0), 'act 1, bob: "repeat" must be a whole number from 1'),
    (changed("acts", 0, "motions", "bob", "repeat", to=1e9), 'act 1, bob: "repeat" must be a whole number'),
    (changed("acts", 0, "motions", "bob", "range", to=[1]), 'act 1, bob: "range" must be two times'),
    (changed("acts", 0, "motions", "bob", "motion", to=""), 'act 1, bob: "motion" must be a text'),
    (changed("sound", to=3), 'the show: "sound" must be a text, not 3'),
    (changed("sound_start", to="now"), "the show: \"sound_start\" must be a number, not 'now'"),
    (changed("others", to="wait"), '"others" must be "stop" or "go on": what they do where a robot fails'),
    (changed("loop", to=True), "the show: unknown entry 'loop'"),
]


@pytest.mark.parametrize(("data", "sentence"), WRONG, ids=[sentence[:40] for _, sentence in WRONG])
def test_what_is_wrong_in_one_sentence(tmp_path, data, sentence) -> None:
    with pytest.raises(FormatError, match=sentence) as raised:
        load_show(written(tmp_path, data))
    assert "\n" not in str(raised.value)
    assert "it.show.json" in str(raised.value)


def test_a_show_that_is_not_there(tmp_path) -> None:
    with pytest.raises(FormatError, match=r"no\.show\.json"):
        load_show(tmp_path / "no.show.json")
