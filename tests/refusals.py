"""Refusals as a command prints them: `homologue: <sentence> [code]`."""

import re


def codes(stderr: str) -> list[str]:
    """Return the codes of all refusals; every line must be one."""
    found = [re.fullmatch(r"homologue: .+ \[([a-z_]+)\]", line) for line in stderr.splitlines()]
    assert all(found), stderr
    return [one[1] for one in found if one]
