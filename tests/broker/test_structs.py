"""Threads that read a kind of struct for the first time at the same moment."""

import subprocess
import sys
from typing import Final

import pytest

PROCESSES: Final = 40
"""Without the examination one in ten crashes, so that some of these would."""

TABLES_IN_THREADS: Final = """
import sys, threading
import msgspec
from broker.rules.profiles import load_rules
from broker.structs import examine_structs
from kiosk.config import Config
from kiosk.sim import Script

examine_structs()
together = threading.Barrier(5)
sys.setswitchinterval(1e-5)

def read():
    together.wait()
    for kind, decode in ((Script, msgspec.json.decode), (Config, msgspec.toml.decode)):
        try:
            decode(b"1 = 1" if kind is Config else b"{}", type=kind)
        except msgspec.ValidationError:
            pass
    load_rules("mcr")

threads = [threading.Thread(target=read) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.slow
def test_threads_may_read_the_same_kinds_for_the_first_time() -> None:
    ends = [
        subprocess.run([sys.executable, "-c", TABLES_IN_THREADS], check=False, capture_output=True).returncode
        for _ in range(PROCESSES)
    ]
    assert ends == [0] * PROCESSES
