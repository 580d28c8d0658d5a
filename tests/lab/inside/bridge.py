"""Runs in a machine of the laboratory: carries bytes between the far end of a USB serial line and a virtio port."""

import os
import select
import sys
import tty


def carry(port: str, line: str) -> None:
    """Carry until one of them is gone."""
    outside, inside = os.open(port, os.O_RDWR | os.O_NONBLOCK), os.open(line, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(inside)
    watch = select.poll()
    watch.register(inside, select.POLLIN)
    watch.register(outside, select.POLLIN)
    while True:
        for ready, _ in watch.poll(1000):
            try:
                piece = os.read(ready, 4096)
            except BlockingIOError:
                continue
            if piece:
                os.write(outside if ready == inside else inside, piece)


if __name__ == "__main__":
    carry(sys.argv[1], sys.argv[2])
