"""Data files of control tables of any brand: ours, the user's, and Dynamixel's own `*.model` files.

A data file is JSON (docs/servo-models.md). It says how its model differs from the file that it is `like`. The vendor's
files hold addresses only, so that a servo of such a model is known and its torque can be cut.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

NUMBERS = "dynamixel.model"  # the vendor's list of model numbers and files
KEYS = {
    *("about", "like", "name", "number", "rpm", "current_unit", "counts_per_turn", "without", "entries", "indirect"),
    *("newer", "sources", "motor", "velocity_unit"),
}
OF_AN_ENTRY = {"address", "size", "access", "initial", "low", "high", "sign_bit"}
OF_A_MOTOR = {"stall_torque", "voltage", "stall_current", "source", "checked"}
DEEPEST = 8  # files that are like one another


class TableError(Exception):
    """Error in a data file, in one sentence that names it."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")


@dataclass
class Table:
    """A data file, with all that it is like.

    Attributes:
        path: of the file.
        name, number: of the model; empty and 0 in a file that others are like.
        rpm: without load at the recommended supply [rev/min]; 0 where it is not known.
        current_unit: of currents [A]; None where the model reports a load instead.
        counts_per_turn: of positions; 0 for the usual ones.
        velocity_unit: of velocities [rev/min]; 0 for the usual one.
        entries: of the control table, by name.
        indirect: banks of indirect entries.
        newer: the firmware from which there are other banks, and these.
        motor: stall torque [N m], voltage [V] and stall current [A] of the motor, with their source.
    """

    path: Path
    name: str = ""
    number: int = 0
    rpm: float = 0.0
    current_unit: float | None = None
    counts_per_turn: float = 0
    velocity_unit: float = 0.0
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    indirect: list[dict[str, int]] = field(default_factory=list)
    newer: dict[str, Any] = field(default_factory=dict)
    motor: dict[str, Any] = field(default_factory=dict)


def own_folder(brand: str) -> Path:
    """Return the folder of a brand's data files that come with RobIK."""
    return Path(__file__).parent / brand / "control_tables"


def user_folder(brand: str) -> Path:
    """Return the folder of the user's own data files for a brand, which need not be there.

    The environment variable `ROBIK_BRAND_TABLES` (with the brand's name) names another one.
    """
    if chosen := os.environ.get(f"ROBIK_{brand.upper()}_TABLES"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "robik" / brand


def read_tables(folder: Path, *others: Path, needed: Collection[str] = ()) -> tuple[list[Table], list[str]]:
    """Read the models in a folder's `*.json` and `*.model` files, and return in words what is wrong with other files.

    The folder need not be there. Files in `others` may be those that these are like; `needed` names the entries
    that every model of the brand has.
    """
    tables, problems = [], []
    files = sorted([*folder.glob("*.json"), *folder.glob("*.model")]) if folder.is_dir() else []
    for path in files:
        if path.name == NUMBERS:
            continue
        try:
            table = read_table(path, (folder, *others))
        except TableError as error:
            problems.append(str(error))
            continue
        if table.name and (lacking := next((name for name in needed if name not in table.entries), "")):
            problems.append(str(TableError(path, f"it has no entry {lacking!r}")))
        elif table.name:
            tables.append(table)
    return tables, problems


def read_table(path: Path, folders: tuple[Path, ...], depth: int = 0) -> Table:
    """Read a data file and the files in `folders` that it is like; `depth` of them led here.

    Raise TableError if it is not what it should be.
    """
    if depth > DEEPEST:
        raise TableError(path, "the files that it is like are like one another in a ring")
    if path.suffix == ".model":
        return _vendors(path)
    data = _json(path)
    like = data.get("like")
    base = Table(path) if like is None else _read_base(_found(path, like, folders), folders, depth + 1)
    table = copy(base)
    table.path, table.entries = path, dict(base.entries)
    table.name, table.number = data.get("name", ""), data.get("number", 0)
    is_named = isinstance(table.name, str) and _is_count(table.number) and table.number > 0
    if table.name and not is_named:
        raise TableError(path, 'a model needs a "name" and a "number" from 1 to 65535')
    for key in ("rpm", "current_unit", "counts_per_turn", "velocity_unit", "indirect", "newer", "motor"):
        if key in data:
            setattr(table, key, _checked(path, key, data[key]))
    for name in data.get("without", []):
        if table.entries.pop(name, None) is None:
            raise TableError(path, f"there is no entry {name!r} to be without")
    for name, changes in data.get("entries", {}).items():
        table.entries[name] = _entry(path, name, table.entries.get(name, {}), changes)
    if table.name:
        _check_whole(table)
    return table


@cache  # most files are like a few others
def _read_base(path: Path, folders: tuple[Path, ...], depth: int) -> Table:
    return read_table(path, folders, depth)


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableError(path, f"it cannot be read as JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("entries", {}), dict):
        raise TableError(path, 'it must be an object, and its "entries" too')
    if unknown := set(data) - KEYS:
        raise TableError(path, f"unknown key {sorted(unknown)[0]!r}; there are {', '.join(sorted(KEYS))}")
    return data


def _found(path: Path, like: object, folders: tuple[Path, ...]) -> Path:
    """Return the file that another one is like: by its name, with or without its ending."""
    names = [str(like), f"{like}.json"]
    found = next((folder / name for folder in folders for name in names if (folder / name).is_file()), None)
    if found is None:
        raise TableError(path, f"there is no file {like!r} for it to be like")
    return found


def _checked(path: Path, key: str, value: Any) -> Any:
    """Return a value of a data file, if it can be one."""
    if key == "motor":
        return _motor(path, value)
    banks = value if key == "indirect" else value.get("indirect") if key == "newer" and isinstance(value, dict) else []
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9
    numbers = ("rpm", "current_unit", "counts_per_turn", "velocity_unit", "stall_torque", "voltage", "stall_current")
    if key in numbers and not is_number:
        raise TableError(path, f"its {key} must be a positive number, not {value!r}")
    if key == "newer" and (not isinstance(value, dict) or type(value.get("firmware")) is not int):
        raise TableError(path, 'its "newer" must be an object with "firmware" and "indirect"')
    whole = isinstance(banks, list) and all(
        isinstance(bank, dict) and all(_is_count(bank.get(k)) for k in ("addresses", "data", "count")) for bank in banks
    )
    if not whole:
        raise TableError(path, 'each bank of "indirect" needs whole numbers "addresses", "data" and "count"')
    return value


def _motor(path: Path, value: Any) -> dict[str, Any]:
    """Return the data of a motor, if they can be."""
    if not isinstance(value, dict) or not {"stall_torque", "voltage"} <= set(value) <= OF_A_MOTOR:
        may = ", ".join(sorted(OF_A_MOTOR - {"stall_torque", "voltage"}))
        raise TableError(path, f'its "motor" must be an object with "stall_torque" and "voltage", and maybe {may}')
    for key in {"stall_torque", "voltage", "stall_current"} & set(value):
        _checked(path, key, value[key])
    return value


def _entry(path: Path, name: str, before: dict[str, Any], changes: Any) -> dict[str, Any]:
    """Return an entry with changes."""
    where = f"entry {name!r}"
    if not isinstance(changes, dict):
        raise TableError(path, f"{where} must be an object")
    if unknown := set(changes) - OF_AN_ENTRY:
        raise TableError(
            path, f"{where}: unknown key {sorted(unknown)[0]!r}; there are {', '.join(sorted(OF_AN_ENTRY))}"
        )
    entry = before | changes
    if not {"address", "size", "access"} <= set(entry):
        raise TableError(path, f"{where} needs an address, a size and an access")
    if not _is_count(entry["address"]) or entry["size"] not in (1, 2, 4) or entry["access"] not in ("R", "RW"):
        raise TableError(
            path, f'{where}: its address must be from 0 to 65535, its size 1, 2 or 4, its access "R" or "RW"'
        )
    values = [entry.get(key, 0) for key in ("low", "initial", "high")]
    if any(type(value) is not int for value in values):
        raise TableError(path, f"{where}: initial, low and high must be whole numbers")
    return entry


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 65536


def _check_whole(table: Table) -> None:
    """Make sure that no two entries of a model share a byte, and that initial values are within their ranges."""
    owner: dict[int, str] = {}
    for name, entry in table.entries.items():
        for address in range(entry["address"], entry["address"] + entry["size"]):
            if address in owner:
                raise TableError(table.path, f"entries {owner[address]!r} and {name!r} share the address {address}")
            owner[address] = name
        known = [entry[key] for key in ("low", "initial", "high") if key in entry]
        if known != sorted(known):
            raise TableError(
                table.path, f"entry {name!r}: its initial value {entry['initial']} is not within its range"
            )


def _vendors(path: Path) -> Table:
    """Read a model file of the vendor's: addresses and sizes under `[control table]`.

    Its number is in a list beside it.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="ignore").splitlines()
        listed = (path.parent / NUMBERS).read_text(encoding="utf-8").splitlines()
    except OSError:
        raise TableError(
            path, f"it cannot be read, or the vendor's {NUMBERS}, which lists the numbers, is not beside it"
        ) from None
    numbers = {words[1]: int(words[0]) for line in listed if len(words := line.split()) == 2 and words[0].isdecimal()}
    if path.name not in numbers:
        raise TableError(path, f"{NUMBERS} beside it does not list it")
    start = next((k for k, line in enumerate(lines) if line.strip() == "[control table]"), len(lines))
    rows = [re.fullmatch(r"(\d+)\s+(\d+)\s+(\S.*?)\s*", line) for line in lines[start:]]
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row is None or row[3].startswith("Indirect"):
            continue
        name = re.sub("_shadow_", "_", re.sub(r"[^a-z0-9]+", "_", row[3].lower()).strip("_"))  # as its pages say it
        entries.setdefault(name, {"address": int(row[1]), "size": int(row[2]), "access": "RW"})
    if not entries:
        raise TableError(path, "it lists no control table")
    return Table(path, "-".join(path.stem.upper().split("_")), numbers[path.name], entries=entries)
