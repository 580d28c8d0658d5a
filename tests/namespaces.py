"""Namespaces of Linux of a test's own, such as a network."""

import subprocess
from collections.abc import Sequence

import pytest


def need_namespaces(command: Sequence[str]) -> None:
    """Skip the test, and say so, where `command` may not make any, as in a container without rights."""
    tried = subprocess.run([*command, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no namespaces can be made here: {tried.stderr.strip()}")
