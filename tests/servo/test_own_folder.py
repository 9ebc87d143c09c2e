"""Folders of notices: no other user of the computer can write to them, or make notices go elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robik.servo.chain.chain import Servo, ServoChain
from robik.servo.port.outside import Notice, held, holders
from robik.servo.port.own_folder import VARIABLE
from robik.servo.port.status import PlayState, Status

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system keeps folders for each user by itself")

PORT = "/dev/null"
CHAIN = ServoChain((Servo("knee", 1),))
PLAYING = Status(PlayState.PLAYING, "playing")
NAME = f"robik-ports-{os.getuid() if hasattr(os, 'getuid') else 0}"
ANOTHER = 4711  # the uid of another user
CHECKOUT = Path(__file__).resolve().parents[2]
ASKED = "from robik.servo.port.outside import holders; print(len(holders('/dev/null')))"


@pytest.fixture
def shared(tmp_path, monkeypatch) -> Path:
    """A temporary folder that everybody can write to, and a home; no folder of a session."""
    place = tmp_path / "tmp"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    return place


def noticed() -> Notice:
    """A notice of a player that plays, written once."""
    notice = Notice(held(CHAIN, PORT), lambda: PLAYING)
    notice.look()
    return notice


def asked_elsewhere() -> int:
    """How many programs hold the port, as another process sees it."""
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_it_is_for_this_user_alone(shared):
    with noticed():
        assert (shared / NAME).stat().st_mode & 0o777 == 0o700
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)
    assert holders(PORT) == []


def test_a_link_of_the_folders_name_is_not_followed(shared, tmp_path):
    """Whoever made it chose where this user's files are overwritten."""
    aim = tmp_path / "precious"
    aim.mkdir()
    (aim / f"{os.getpid()}.json").write_text("precious")
    (shared / NAME).symlink_to(aim)
    with noticed() as notice:
        assert {file.name: file.read_text() for file in aim.iterdir()} == {f"{os.getpid()}.json": "precious"}
        assert notice.look() == ""
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1), "in another folder"
    assert (aim / f"{os.getpid()}.json").exists()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755, 0o1777])
def test_a_folder_that_others_can_write_to_or_read_is_not_trusted(shared, mode):
    """They may drop the robot by a request, or let a notice be written through a link."""
    (shared / NAME).mkdir()
    (shared / NAME).chmod(mode)
    with noticed() as notice:
        (shared / NAME / f"{os.getpid()}.stop").write_text("torque off")
        assert notice.look() == ""
        (shared / NAME / "1.json").write_text(json.dumps({"ports": [PORT], "state": "", "moves": 1, "is_off": False}))
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_trusted(shared):
    (shared / NAME).mkdir(mode=0o700)
    os.chown(shared / NAME, ANOTHER, ANOTHER)
    with noticed() as notice:
        (shared / NAME / f"{os.getpid()}.stop").write_text("torque off")
        assert notice.look() == ""
        assert list((shared / NAME).iterdir()) == [shared / NAME / f"{os.getpid()}.stop"]
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_in_another_users_folder_is_not_trusted(shared, tmp_path, monkeypatch):
    """As root who has kept the session's variable of somebody else, who may rename what is in there."""
    session = tmp_path / "session"
    session.mkdir(mode=0o700)
    os.chown(session, ANOTHER, ANOTHER)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
    with noticed():
        assert list((session / NAME).iterdir()) == []
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)


def test_a_file_of_the_folders_name_is_in_nobodys_way(shared):
    (shared / NAME).write_text("")
    with noticed():
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)


def test_a_temporary_folder_from_which_others_can_rename_is_not_trusted(shared):
    shared.chmod(0o777)
    with noticed():
        assert list((shared / NAME).iterdir()) == []
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)


def test_who_has_no_folder_of_the_session_is_found_by_who_has(shared, tmp_path, monkeypatch):
    """As where a desktop plays, and a shell of another session stops it; and the other way round."""
    session = tmp_path / "session"
    session.mkdir(mode=0o700)
    with noticed():
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
        assert (len(holders(PORT)), asked_elsewhere()) == (1, 1)


def test_a_folder_that_is_named_and_cannot_be_trusted_is_said(shared, tmp_path, monkeypatch, capsys):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "open"))
    with noticed():
        assert list((tmp_path / "open").iterdir()) == []
    warned = capsys.readouterr().err
    assert "cannot be stopped from outside" in warned
    assert str(tmp_path / "open") in warned


def test_a_user_without_a_home_plays_all_the_same(shared, monkeypatch, capsys):
    """As in a container under any number, where nothing can be trusted either."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])
    shared.chmod(0o777)
    with noticed():
        assert holders(PORT) == []
    assert "cannot be stopped from outside" in capsys.readouterr().err


def test_a_program_that_was_killed_holds_nothing(shared):
    """From the moment on, also where its notice is new."""
    code = """
import sys, time
from robik.servo.port.outside import *
from robik.servo.chain.chain import Servo, ServoChain
from robik.servo.port.status import PlayState, Status
notice = Notice(held(ServoChain((Servo("knee", 1),)), "/dev/null"), lambda: Status(PlayState.PLAYING, "playing"))
notice.look()
print("there", flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=CHECKOUT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        assert [one.pid for one in holders(PORT)] == [process.pid]
        process.kill()
        process.wait()
        time.sleep(0.01)
        assert holders(PORT) == []
