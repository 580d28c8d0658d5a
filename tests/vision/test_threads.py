"""What reading leaves of the machine to others."""

import os
import subprocess
import sys

PROGRAM = """
import os
import kiosk.command
import vision.reader
import numpy as np

many = np.ones((600, 600), dtype=np.float32)
many @ many
print(len(os.listdir("/proc/self/task")))
"""


def test_a_table_multiplies_matrices_in_the_thread_that_asks() -> None:
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    told = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    assert int(told.stdout) == 1
