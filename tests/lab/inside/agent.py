"""Runs in a machine of the laboratory, on Debian's Python alone: executes commands that come over a virtio port.

One JSON line in, {"id", "command", "input": base64}; one JSON line out, {"id", "status", "output": base64}.
"""

import base64
import json
import os
import subprocess
import sys


def answer(line: bytes) -> bytes:
    """Run one command by the shell; return its exit status, and what it wrote."""
    asked = json.loads(line)
    done = subprocess.run(
        ["/bin/bash", "-c", asked["command"]],
        input=base64.b64decode(asked.get("input", "")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    told = {"id": asked["id"], "status": done.returncode, "output": base64.b64encode(done.stdout).decode()}
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
