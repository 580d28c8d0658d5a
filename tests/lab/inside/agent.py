"""Runs in a machine of the laboratory, on Debian's Python alone: executes commands that come over a virtio port.

One JSON line in, {"id", "command", "input": base64}; one JSON line out, {"id", "status", "output": base64}. What is
asked often is not worth a process each time in an emulator: {"id", "journal": folder} gives a table's journal.
"""

import base64
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path


def journal(folder: Path) -> dict[str, list[object]]:
    """Return what a table's journal holds, from the disk, beside the program that writes; nothing before it exists.

    {"happened": [event, ...], "outbox": [[seq, id, state], ...]}. Where a device served several tables, it is the one
    last written.
    """
    files = sorted(folder.rglob("table.sqlite"), key=lambda file: file.stat().st_mtime)
    if not files:
        return {"happened": [], "outbox": []}
    stored = sqlite3.connect(f"file:{files[-1]}?mode=ro", uri=True)
    try:
        happened = [json.loads(event) for (event,) in stored.execute("SELECT event FROM happened ORDER BY number")]
        outbox = [list(row) for row in stored.execute("SELECT seq, id, state FROM outbox ORDER BY seq")]
    finally:
        stored.close()
    return {"happened": happened, "outbox": outbox}


def answer(line: bytes) -> bytes:
    """Do one thing that was asked for; return its exit status, and what it wrote."""
    asked = json.loads(line)
    if "journal" in asked:
        try:
            status, output = 0, json.dumps(journal(Path(asked["journal"])))
        except sqlite3.Error as error:
            status, output = 1, str(error)
        return _told(asked["id"], status, output.encode())
    done = subprocess.run(
        ["/bin/bash", "-c", asked["command"]],
        input=base64.b64decode(asked.get("input", "")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return _told(asked["id"], done.returncode, done.stdout)


def _told(id_: int, status: int, output: bytes) -> bytes:
    told = {"id": id_, "status": status, "output": base64.b64encode(output).decode()}
    return json.dumps(told).encode() + b"\n"


def serve(port: str) -> None:
    """Answer until the port is gone."""
    end = os.open(port, os.O_RDWR)
    with os.fdopen(os.dup(end), "rb", buffering=0) as lines:
        pending = b""
        while True:
            piece = lines.read(65536)
            if not piece:  # nobody is at the other end; asked again as soon as somebody is
                os.sched_yield()
                continue
            pending += piece
            while b"\n" in pending:
                line, _, pending = pending.partition(b"\n")
                told = answer(line)
                while told:
                    told = told[os.write(end, told) :]


if __name__ == "__main__":
    serve(sys.argv[1])
