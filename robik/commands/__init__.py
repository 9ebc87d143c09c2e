"""The commands of `robik`, one module a subject; each has an `add` function per command."""
