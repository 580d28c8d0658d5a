"""`homologue version`: the versions of Homologue and of the brokers on this machine."""

import platform
import sys
from typing import Any, get_args

import click

from broker.cli.rules_input import write_answer
from broker.console import json_option
from broker.errors import ProgramMissing
from broker.mqtt.programs import BrokerChoice, BrokerProgram, Kind, broker_program, preferred_broker
from broker.version import program_version


@click.command(short_help="Show the versions of this program and of the brokers.")
@json_option("Print one JSON object.")
def version(*, as_json: bool) -> None:
    """Show this version, the available brokers, and which of them a new event uses.

    For each broker: its version, the package that it came in, and the SHA-256 of the program. The exit code is 1 if a
    program is not what its package installed.
    """
    found = {kind: _program(kind) for kind in get_args(Kind)}
    preferred = _preferred()
    if as_json:
        write_answer(
            {"homologue": program_version(), "python": platform.python_version()}
            | {"brokers": {kind: _as_json(one) for kind, one in found.items()}}
            | {"preferred": {"kind": preferred.kind, "why": str(preferred.why)} if preferred else None}
        )
    else:
        click.echo(f"homologue {program_version()}, Python {platform.python_version()}")
        for kind, one in found.items():
            click.echo(f"{kind}: {one or 'not installed'}")
        if preferred:
            click.echo(f"A new event is run on {preferred.kind}: {preferred.why}")
    if any(one and one.altered for one in found.values()):
        sys.exit(1)


def _program(kind: Kind) -> BrokerProgram | None:
    try:
        return broker_program(kind)
    except ProgramMissing:
        return None


def _preferred() -> BrokerChoice | None:
    try:
        return preferred_broker()
    except ProgramMissing:
        return None


def _as_json(one: BrokerProgram | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "path": str(one.path),
        "version": one.version,
        "sha256": one.sha256,
        "package": one.package or None,
        "altered": one.altered,
    }
