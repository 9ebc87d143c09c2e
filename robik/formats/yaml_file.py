"""YAML files that may come from anywhere: plain values, read whole or refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..extras import extra
from ..files import read_whole

with extra("formats"):
    import yaml

MOST = 1_000_000  # bytes
MOST_KEYS = 10_000  # of a mapping, with those that are merged into it


class Loader(yaml.SafeLoader):
    """Plain YAML, with no mapping that grows without end by being merged into others."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge the mappings that `<<` names; raise ConstructorError beyond `MOST_KEYS` keys."""
        super().flatten_mapping(node)
        if len(node.value) > MOST_KEYS:
            raise yaml.constructor.ConstructorError(
                None, None, f"a mapping of more than {MOST_KEYS} keys", node.start_mark
            )


def read_yaml(path: Path, loader: type[Loader] = Loader) -> Any:
    """Return the content of a YAML file; the loader must be a safe one. A FormatError names the file and the place."""
    try:
        text = read_whole(path, MOST).decode()
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} cannot be read as text: {error}") from None
    try:
        return yaml.load(text, Loader=loader)  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise FormatError(f"{path}{where}: not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:  # constructors let slip what Python raises
        raise FormatError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise FormatError(f"{path}: not YAML that can be read: it is nested too deeply") from None
