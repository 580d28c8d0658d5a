"""Mosquitto as a child process, behind the same interface as the embedded broker."""

import os
import shutil
from typing import Final

from broker.child.process import ChildBroker
from broker.errors import ProgramMissing
from broker.mosquitto.configuration import write_all

SYSTEM_PROGRAMS: Final = "/usr/local/sbin:/usr/sbin"  # Debian keeps them off an ordinary user's PATH


class MosquittoBroker(ChildBroker):
    """A Mosquitto on this machine; `broker.brokers.Broker` says what each part does."""

    name = "mosquitto"

    def _command(self, port: int) -> list[str]:
        program = mosquitto()
        path = write_all(self._settings, port, self._settings.folder / "mosquitto")
        return [program, "-c", str(path)]


def mosquitto() -> str:
    """Find the program. Raises ProgramMissing."""
    found = shutil.which("mosquitto", path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_PROGRAMS}")
    if found is None:
        raise ProgramMissing("mosquitto is not installed: sudo apt-get install mosquitto")
    return found
