"""A benchmark with a window ends on SIGTERM."""

import signal
import subprocess
import sys

WITH_A_WINDOW = """
import os, signal
import tests.benchmarks
from broker.i18n import Translator
from kiosk.config import ScreenSettings
from kiosk.screens import ScreenWindow
with ScreenWindow(ScreenSettings(driver="dummy"), Translator("en")) as window:
    os.kill(os.getpid(), signal.SIGTERM)
    print(*window.pressed())
"""


def test_a_benchmark_with_a_window_ends_on_sigterm() -> None:
    ended = subprocess.run([sys.executable, "-c", WITH_A_WINDOW], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, ""), ended.stderr
