"""Keys of objectives in clips and settings, such as `hand.in.pelvis`."""

from __future__ import annotations

import re
from typing import Any

NAMES = {"frame": "NAME"}  # words for attributes in messages; others are written in capitals
_PLACE = re.compile(r"\{(\w+)(?::(\w+))?(?:\|(\w+))?\}")


class KeyForm:
    """Form of the keys of one kind of objective, such as `{frame}.look_at[.in.{other}]`.

    In braces stand attributes of the objective: `{of:OBSTACLE}` also says its word in messages, `{other|world}` what
    stands in the key where it is None. What is in brackets is left out where an attribute in it is empty.

    Attributes:
        attributes: names of those in braces.
        shown: the form for messages.
    """

    def __init__(self, text: str) -> None:
        places = list(_PLACE.finditer(text))
        self.attributes = tuple(place[1] for place in places)
        self._nothing = {place[1]: place[3] for place in places}
        self._short, self._long = (_PLACE.sub(r"{\1}", re.sub(r"\[(.*)\]", kept, text)) for kept in ("", r"\1"))
        self.shown = _PLACE.sub(lambda place: place[2] or NAMES.get(place[1], place[1].upper()), text)
        pattern = text.replace(".", r"\.").replace("[", "(?:").replace("]", ")?")
        self._pattern = re.compile(_PLACE.sub(r"(?P<\1>.+)", pattern))

    def key_of(self, item: Any) -> str:
        """Return the key of an objective."""
        values = {name: getattr(item, name) or nothing for name, nothing in self._nothing.items()}
        return (self._long if all(values.values()) else self._short).format(**values)

    def read(self, key: str) -> dict[str, str] | None:
        """Return the attributes that a key names, without those it leaves empty; None where it is of another form."""
        match = self._pattern.fullmatch(key)
        if not match:
            return None
        return {name: text for name, text in match.groupdict().items() if text not in (None, self._nothing[name])}
