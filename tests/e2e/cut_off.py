"""Run a module as on a machine whose network may be cut: `python -m tests.e2e.cut_off FILE PROGRAM ARGUMENT...`.

PROGRAM is `homologue` or a module. No connection is made to the ports that stand in the file, while they stand there.
"""

import runpy
import socket
import sys
import threading
from pathlib import Path
from typing import Any

connect = socket.create_connection


def main(file: str, module: str) -> None:
    """Run the module with what is left of the command line."""
    sys.argv = [module, *sys.argv[3:]]

    def create_connection(address: tuple[str, int], *rest: Any, **named: Any) -> socket.socket:  # noqa: ANN401 - as the real one
        if str(address[1]) in Path(file).read_text("ascii").split():
            raise OSError("the network is cut")
        made = connect(address, *rest, **named)
        threading.Thread(target=_watch, args=(made.dup(), str(address[1]), Path(file)), daemon=True).start()
        return made

    socket.create_connection = create_connection  # type: ignore[assignment] # it takes what the real one does
    if module == "homologue":
        from broker.cli.main import homologue  # noqa: PLC0415 - with the network as it is now

        homologue()
    else:
        runpy.run_module(module, run_name="__main__", alter_sys=True)


def _watch(made: socket.socket, port: str, file: Path) -> None:
    """End a connection that was made before the network was cut. `made`: another handle of it."""
    pause = threading.Event()
    while port not in file.read_text("ascii").split():
        pause.wait(0.2)
    made.shutdown(socket.SHUT_RDWR)
    made.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
