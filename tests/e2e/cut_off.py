"""Run `homologue` as on a machine whose network may be cut: `python -m tests.e2e.cut_off FILE ARGUMENT...`.

No connections are possible to the ports that are currently listed in the file. While it also contains PATIENT, a
standby waits indefinitely, because the other scorer may be slow on a busy machine.
"""

import socket
import sys
import threading
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from broker.cli import standby
from broker.cli.main import homologue
from broker.scorer.lease import LeaseRequest, Outcome
from broker.scorer.standby import Takeover
from tests.patience import PATIENCE_S

PATIENT: Final = "patient"

connect = socket.create_connection


def main(file: Path) -> None:
    """Run `homologue` with the remaining arguments."""
    silent, look = Takeover.silent, LeaseRequest.look

    def words() -> list[str]:
        return file.read_text("ascii").split()

    def create_connection(address: tuple[str, int], *rest: Any, **named: Any) -> socket.socket:  # noqa: ANN401 - as the original
        if str(address[1]) in words():
            raise OSError("the network is cut")
        made = connect(address, *rest, **named)
        threading.Thread(target=watch, args=(made.dup(), str(address[1])), daemon=True).start()
        return made

    def watch(made: socket.socket, port: str) -> None:
        """Close a connection once the network is cut. `made` is a duplicate of its socket."""
        pause = threading.Event()
        while port not in words():
            pause.wait(0.2)
        made.shutdown(socket.SHUT_RDWR)
        made.close()

    def silent_for_long(takeover: Takeover, now: float) -> bool:
        return words() != [PATIENT] and silent(takeover, now)

    def look_for_long(request: LeaseRequest, now: float) -> Outcome:
        asks_only = not request._starts
        return request.outcome if asks_only and PATIENT in words() else look(request, now)

    patch.object(socket, "create_connection", create_connection).start()
    patch.object(standby, "REPLACED_TIMEOUT_S", PATIENCE_S).start()
    patch.object(Takeover, "silent", silent_for_long).start()
    patch.object(LeaseRequest, "look", look_for_long).start()
    homologue(sys.argv[2:])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
