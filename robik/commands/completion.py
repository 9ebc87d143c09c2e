"""Completion of the command in a shell: its commands, their options, and the robots that ship."""

from __future__ import annotations

import argparse

from ..robots import names

# For bash; zsh takes it after `autoload bashcompinit && bashcompinit`. Where nothing fits, files are offered.
SCRIPT = """_robik() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    if [ "$COMP_CWORD" = 1 ]; then words="{commands}"
    elif [ "${{word:0:1}}" = - ]; then
        case ${{COMP_WORDS[1]}} in
{cases}
        esac
    elif [ "$COMP_CWORD" = 2 ]; then words="{robots}"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _robik robik
"""


def script(parser: argparse.ArgumentParser) -> str:
    """Return a script for bash that completes what a parser takes: words of commands, and options that they have."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    cases = [
        f'        {name}) words="{" ".join(word for action in one._actions for word in action.option_strings)}" ;;'
        for name, one in commands.choices.items()
    ]
    return SCRIPT.format(commands=" ".join(commands.choices), cases="\n".join(cases), robots=" ".join(names()))
