"""Values that are worked out once per robot: a robot never changes, and is asked the same for every clip."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from .model import KEPT, Mechanism

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


def kept_with_robot(
    function: Callable[Concatenate[Mechanism, Arguments], Value],
) -> Callable[Concatenate[Mechanism, Arguments], Value]:
    """Keep what a function returns with its first argument, the robot, by its other arguments (a decorator).

    The other arguments must be hashable; what is returned must not be changed.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def found(mechanism: Mechanism, *arguments: Arguments.args, **named: Arguments.kwargs) -> Value:
        values: dict[Any, Value] = vars(mechanism).setdefault(KEPT, {})
        key = (name, arguments, *sorted(named.items()))
        if key not in values:
            values[key] = function(mechanism, *arguments, **named)
        return values[key]

    return found
