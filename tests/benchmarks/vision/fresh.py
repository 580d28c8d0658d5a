"""Measure a new process that imports our reader, loads its networks and reads one picture."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """
import json, sys, time
began = time.perf_counter()
from tests.benchmarks.vision.ours import read_picture
from vision.picture import load_picture
from pathlib import Path
imported = time.perf_counter() - began
picture = load_picture(Path(sys.argv[1]))
spent = []
for _ in range(3):
    began = time.perf_counter()
    read_picture(picture)
    spent.append(time.perf_counter() - began)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(json.dumps([imported, spent[0] - min(spent[1:]), int(peak.split()[1]) * 1024 / 1e6]))
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds to import, and to load the networks (how much longer the first reading takes), and peak MB."""

    importing: float
    loading: float
    peak: float


def measure_start(picture: Path) -> Start:
    """Read a picture file three times in a new process.

    The peak is the kernel's value for that process alone (VmHWM), since `ru_maxrss` would start with that of its
    parent.
    """
    command = [sys.executable, "-c", _PROGRAM, str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Start(*json.loads(done.stdout))
