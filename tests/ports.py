"""Ports of servers that are told theirs before they are started."""

from contextlib import suppress

from broker.cli.standby import reserve_port


def reserve_two_ports() -> int:
    """Return a free port whose next one is free too: a node of a cluster has both."""
    while True:
        first = reserve_port()
        with suppress(OSError, OverflowError):
            return reserve_port(first + 1) - 1
