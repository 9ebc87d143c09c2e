"""Files that would take all memory are refused before they do."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from robik import program
from robik.arrays import pack, read_npz
from robik.errors import RobikError
from robik.motions import load_motion
from robik.motions.gmr_pickle import load_arrays

SPARE, RATIO = 200e6, 10  # bytes, and times the file's own, that reading may take
PEAK = """
import resource, sys
from robik.{module} import {read}
from robik.errors import RobikError
try:
    open(sys.argv[1], "rb").close()
    {read}("none")
except RobikError:
    pass
import scipy.spatial.transform, yaml
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    {read}(sys.argv[1])
    said = ""
except RobikError as error:
    said = str(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(said)
"""
MODULES = {"load_motion": "motions", "load_clip": "clips.clip", "load_recording": "recordings"}


def archive(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def lying(size: int) -> bytes:
    """An archive whose only array says that it is large, and is not."""
    file, head = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (size,)})
    with zipfile.ZipFile(file, "w") as made:
        for name in ("times", "actuators", "values"):
            made.writestr(f"{name}.npy", head.getvalue() + bytes(64))
    return file.getvalue()


@cache
def zeros() -> bytes:
    """Half a gigabyte, of which half a megabyte remains, for every kind of file."""
    large = np.zeros(33_000_000)
    return archive(
        times=large, com=np.zeros(1), values=large, positions=large.reshape(-1, 2, 3), actuators=np.array(["a"])
    )


STEPS = b"".join(b"- positions: [0.1]\n  time_from_start: {sec: %d, nanosec: 5}\n" % k for k in range(50_000))
BOMBS = {
    "motion of zeros": ("m.npz", "load_motion", zeros),
    "clip of zeros": ("c.npz", "load_clip", zeros),
    "recording of zeros": ("r.npz", "load_recording", zeros),
    "bytes that become floats": ("r.npz", "load_recording", lambda: archive(positions=np.zeros((9**8, 1, 1), "u1"))),
    "what is not read": ("m.npz", "load_motion", lambda: archive(
        times=np.zeros(1), actuators=np.array(["a"]), values=np.zeros((1, 1)), more=np.zeros(33_000_000))),
    "a header that lies": ("m.npz", "load_motion", lambda: lying(10**12)),
    "an axis without length": ("m.npz", "load_motion", lambda: archive(
        times=np.zeros((10**12, 0)), actuators=np.array(["a"]), values=np.zeros((10**12, 0)))),
    "empty lists": ("m.json", "load_motion", lambda: b'{"format": "robik-motion", "time": [' + b"[]," * 10**7 + b"0]}"),
    "small numbers": ("m.csv", "load_motion", lambda: b"time,a\n" + b"".join(b"%d,0\n" % k for k in range(300_000))),
    "nodes of YAML": ("m.yaml", "load_motion", lambda: b"joint_names: [a]\npoints:\n" + STEPS),
    "aliases of YAML": ("m.yaml", "load_motion", lambda: b"joint_names: &a [a]\npoints: [" + b"*a," * 10**6 + b"*a]"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="a process says what it took at its peak on Unix alone")
@pytest.mark.parametrize("case", BOMBS)
def test_reading_takes_no_more_than_the_file_warrants(case: str, tmp_path: Path) -> None:
    """Resident memory at its peak, of a process of its own."""
    name, read, make = BOMBS[case]
    path = tmp_path / name
    path.write_bytes(make())
    text = PEAK.format(module=MODULES[read], read=read)
    done = subprocess.run(
        [sys.executable, "-c", text, str(path)], env=program.environment(), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    peak, said = done.stdout.splitlines()
    taken = 1024 * int(peak) if sys.platform != "darwin" else int(peak)
    assert taken <= SPARE + RATIO * path.stat().st_size, f"{taken / 1e6:.0f} MB"
    assert said == "" or said.startswith(f"{path}: "), said
    assert bool(said) == (case not in ("small numbers", "nodes of YAML", "what is not read")), said


def test_what_robik_writes_it_reads() -> None:
    """An hour of standing still: compressed, it would look like a bomb."""
    still = {"values": np.zeros((300_000, 30))}
    assert len(pack(still)) > 70_000_000
    np.testing.assert_array_equal(read_npz(pack(still), ("values",))["values"], still["values"])
    assert len(pack({"a": np.zeros(1_000_000)})) < 100_000, "what is not large is compressed"
    with pytest.raises(RobikError, match=r"would take 72 MB, .* save it without compression \(numpy.savez\)"):
        read_npz(archive(**still), ("values",))


class Copy:
    """What a pickle makes of the same bytes each time that it names them."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __reduce__(self) -> tuple:
        return bytearray, (self._content,)


def test_a_pickle_that_names_the_same_bytes_again_and_again() -> None:
    numbers = np.zeros(2_000_000)
    once = pickle.dumps({"root_pos": numbers, "dof_pos": numbers})
    assert load_arrays(once)["dof_pos"].shape == (2_000_000,)
    content = bytes(10_000_000)
    with pytest.raises(RobikError, match="far more memory than the file is large"):
        load_arrays(pickle.dumps([Copy(content) for _ in range(50)], 4))
    far = b"\x80\x04K\x01r\x00\x00\x00\x10."  # a number, put at place 2²⁸
    with pytest.raises(RobikError, match="place number 268435456"):
        load_arrays(far)


def test_json_of_ordinary_rows_is_read(tmp_path: Path) -> None:
    data = {
        "format": "robik-motion", "version": 1, "time": list(range(9000)), "actuators": {},
        "base": {"body": "b", "position": [[0, 0, 1]] * 9000, "quaternion": [[1, 0, 0, 0]] * 9000},
    }  # fmt: skip
    (tmp_path / "m.json").write_text(json.dumps(data, separators=(",", ":")))
    assert len(load_motion(tmp_path / "m.json").times) == 9000
