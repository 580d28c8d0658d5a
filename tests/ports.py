"""Ports for servers that must be given one before they start."""

from contextlib import suppress

from broker.cli.standby import reserve_port


def reserve_two_ports() -> int:
    """Return a free port whose successor is free too, since a node of a cluster needs both."""
    while True:
        first = reserve_port()
        with suppress(OSError, OverflowError):
            return reserve_port(first + 1) - 1
