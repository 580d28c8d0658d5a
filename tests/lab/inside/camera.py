"""Runs in a machine of the laboratory: shows a JPEG picture at a v4l2loopback device.

The picture is loaded again whenever its file is replaced. If the file is missing, the last picture stays.
"""

import fcntl
import struct
import sys
import time
from pathlib import Path

VIDIOC_S_FMT = 0xC0D05605  # _IOWR('V', 5, struct v4l2_format), 208 bytes
OUTPUT, MJPG, NO_FIELD = 2, int.from_bytes(b"MJPG", "little"), 1
LARGEST = 2 << 20
PAUSE_S = 0.2


def show(device: str, file: Path, width: int, height: int) -> None:
    """Write pictures until the process is killed."""
    with open(device, "r+b", buffering=0) as video:  # noqa: PTH123 - a device, unbuffered
        form = struct.pack("<II IIIIIIII", OUTPUT, 0, width, height, MJPG, NO_FIELD, 0, LARGEST, 8, 0).ljust(208, b"\0")
        fcntl.ioctl(video, VIDIOC_S_FMT, form)
        while True:
            video.write(file.read_bytes())
            time.sleep(PAUSE_S)  # the camera's rate: five pictures a second


if __name__ == "__main__":
    show(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
