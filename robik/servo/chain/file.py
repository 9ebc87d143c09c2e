"""Files of servo chains, `*.servos.json`."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ...errors import ServoError
from ...files import read_json, write_whole
from ..brands.brand import Brand
from ..brands.registry import DEFAULT, brand_of
from ..imu.boards import BOARDS
from ..imu.mount import ImuMount
from .chain import TUNED, Servo, ServoChain

FORMAT, VERSION = "robik-servos", 1
ENTRIES = ("format", "version", "robot", "brand", "baud_rate", "imu", "servos")


def save_chain(chain: ServoChain, path: str | Path) -> None:
    """Write a chain as `*.servos.json`, whole or not at all."""
    write_whole(path, chain_text(chain))


def chain_text(chain: ServoChain) -> str:
    """Return a chain as JSON, an entry per line."""
    brand = chain.brand.name
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "robot": chain.robot,
        "brand": brand,
        "baud_rate": chain.baud_rate,
    }
    if chain.imu is not None:
        head["imu"] = asdict(chain.imu)
    usual = dict.fromkeys(TUNED) | {
        "brand": brand,
        "port": "",
        "zero_settings": {},
    }  # of every servo that does not say otherwise, and left out
    told = [asdict(servo) | {"zero_settings": dict(servo.zero_settings)} for servo in chain.servos]
    entries = [{k: v for k, v in one.items() if k not in usual or usual[k] != v} for one in told]
    servos = ",\n".join("    " + json.dumps(entry) for entry in entries)
    lines = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    return "{\n" + lines + '  "servos": [\n' + servos + "\n  ]\n}\n"


def load_chain(path: str | Path) -> ServoChain:
    """Read what `save_chain` writes.

    Raise FormatError if it is no JSON file; a ServoError names the file and the entry that is wrong.
    """
    return read_chain(read_json(path), str(path))


def read_chain(data: Any, path: str) -> ServoChain:
    """Return a chain from its JSON data; a ServoError names `path` and the entry that is wrong."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ServoError(f'{path} is not a servo chain; it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise ServoError(f"{path}: version {data.get('version')!r} is not known; this RobIK reads version {VERSION}")
    if unknown := set(data) - set(ENTRIES):
        raise ServoError(f"{path}: unknown entry {sorted(unknown)[0]!r}; there are {', '.join(ENTRIES)}")
    entries = data.get("servos")
    if not isinstance(entries, list):
        raise ServoError(f'{path}: "servos" must be a list of servos')
    try:
        brand = brand_of(data.get("brand", DEFAULT.name))
        servos = tuple(_servo(k, entry, brand) for k, entry in enumerate(entries))
        imu = _imu(data["imu"]) if data.get("imu") is not None else None
        return ServoChain(servos, data.get("baud_rate", 1_000_000), data.get("robot", ""), imu)
    except ServoError as error:
        raise ServoError(f"{path}: {error}") from None


def _imu(entry: object) -> ImuMount:
    known = [field.name for field in fields(ImuMount)]
    if not isinstance(entry, dict) or not ("port" in entry or entry.get("type") in BOARDS):
        raise ServoError(f'"imu" must be an object with at least "port", or a "type" on the bus: {", ".join(BOARDS)}')
    if unknown := set(entry) - set(known):
        raise ServoError(f"imu: unknown entry {sorted(unknown)[0]!r}; there are {', '.join(known)}")
    return ImuMount(**entry)


def _servo(k: int, entry: object, brand: Brand) -> Servo:
    known = [field.name for field in fields(Servo)]
    if not isinstance(entry, dict) or not {"actuator", "id"} <= set(entry):
        raise ServoError(f'entry {k} of "servos" must be an object with at least "actuator" and "id"')
    if unknown := set(entry) - set(known):
        raise ServoError(
            f"servo of {entry['actuator']!r}: unknown entry {sorted(unknown)[0]!r}; there are {', '.join(known)}"
        )
    try:
        made = brand_of(entry.get("brand", brand.name))
    except ServoError as error:
        raise ServoError(f"servo of {entry['actuator']!r}: {error}") from None
    usual: dict[str, Any] = {"brand": made.name, "model": made.default_model}
    model = made.models.get(str(entry.get("model", made.default_model)))
    return Servo(**(usual | ({} if model is None else {"zero": model.centre, "position_limits": model.turn}) | entry))
