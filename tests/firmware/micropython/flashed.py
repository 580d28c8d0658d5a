"""The files on a flashed box: the real `firmware/pico/flash`, with a folder in place of the Pico."""

import os
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]

MPREMOTE: Final = """#!/bin/sh
set -eu
[ "$1 $2 $3 $4 $5 $7 $8 $9" = "connect auto fs cp -r : + fs" ]
[ "${10} ${12} ${13} ${14}" = "cp :main.py + reset" ]
cp -r "$6" "$PICO/"
cp "${11}" "$PICO/main.py"
"""
"""A substitute for mpremote that accepts only the arguments that `flash` passes."""


def flash(folder: Path) -> Path:
    """Flash into a folder and return it."""
    pico, tools = folder / "pico", folder / "tools"
    pico.mkdir()
    tools.mkdir()
    (tools / "mpremote").write_text(MPREMOTE)
    (tools / "mpremote").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    subprocess.run([ROOT / "firmware/pico/flash"], env={"PATH": path, "PICO": str(pico)}, check=True)
    return pico
