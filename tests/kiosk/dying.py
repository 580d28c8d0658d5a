"""A table's program that is killed in its first round, once: `python -m tests.kiosk.dying CONFIG`.

Its buttons are simulated, whatever the configuration names; the supervisor's may be others.
"""

import os
import signal
import sys
from pathlib import Path
from unittest.mock import patch

from firmware.button_addresses import open_buttons
from kiosk import command
from kiosk.loop import LoopRound


def main(config: str) -> None:
    patch.object(command, "open_buttons", lambda _, tell, short: open_buttons("sim://buttons", tell, short)).start()
    died, once = Path(config).with_name("died"), LoopRound.__call__

    def turn(self: LoopRound) -> float:
        pause = once(self)
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return pause

    patch.object(LoopRound, "__call__", turn).start()
    command.kiosk([config], standalone_mode=False)


if __name__ == "__main__":
    main(sys.argv[1])
