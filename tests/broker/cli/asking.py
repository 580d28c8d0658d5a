"""Run a calculator as a script does, but in this process: bytes in, lines of JSON out."""

import json
from typing import Any

from click.testing import CliRunner

from broker.cli.main import homologue


def ask(command: str, *lines: Any, options: tuple[str, ...] = ()) -> list[Any]:  # noqa: ANN401 - any JSON
    """Ask one question per line (text as it is, anything else as JSON) and return the answers."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return ask_bytes(command, text.encode(), options=options)


def ask_bytes(command: str, said: bytes, *, options: tuple[str, ...] = ()) -> list[Any]:
    """Write bytes to standard input and return the answers; the command must succeed and print nothing else."""
    result = CliRunner().invoke(homologue, [command, "--json", *options], input=said)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "" or result.stdout.endswith("\n")
    return [json.loads(line) for line in result.stdout.splitlines()]


def code(answer: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the code of an error, which must have exactly a code and a message."""
    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"code", "message"}
    assert answer["error"]["message"] != ""
    return str(answer["error"]["code"])
