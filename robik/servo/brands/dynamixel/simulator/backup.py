"""Backup of a servo's control table.

From the e-Manual's page "DYNAMIXEL Protocol 2.0", "Control Table Backup (0x20)".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..models import Model

BACKED_UP = re.compile(r"(velocity|position)_[pid]_gain|feedforward_.*|profile_.*|indirect_address_.*")  # of the RAM


@dataclass(frozen=True)
class Backup:
    """Copies of entries by name; empty where there is no backup.

    Attributes:
        eeprom: all of the EEPROM, restored by an instruction.
        ram: gains, profile and indirect addresses, restored at the start where the startup configuration says so.
    """

    eeprom: dict[str, int] = field(default_factory=dict)
    ram: dict[str, int] = field(default_factory=dict)


def copy_settings(model: Model, value: Callable[[str], int]) -> Backup:
    """Return a backup of a control table; `value` returns the value of an entry by name."""
    eeprom = {item.name: value(item.name) for item in model.items if item.is_eeprom}
    return Backup(eeprom, {item.name: value(item.name) for item in model.items if BACKED_UP.fullmatch(item.name)})
