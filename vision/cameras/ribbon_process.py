"""The process of a camera on the Pi's ribbon cable, run by Debian's Python, as picamera2 needs Debian's NumPy.

It imports none of our modules. It gets a socket and a file in memory. For each number that it receives on the socket,
it writes a picture to the file and answers with the picture's shape and the same number; controls that it receives are
set. It ends when the process that started it closes the socket.
"""

import importlib
import importlib.util
import json
import mmap
import os
import socket
import sys
from types import ModuleType
from typing import IO, Any


class Refusal(Exception):
    """The reason why the camera gives no pictures: `driver`, `missing` or `unplugged`, and the driver's message."""


def load_driver(request: dict[str, Any]) -> ModuleType:
    """Return the module picamera2, or the simulated one if requested."""
    try:
        if request["driver"] is None:
            return importlib.import_module("picamera2")
        spec = importlib.util.spec_from_file_location("picamera2", request["driver"])
        if spec is None or spec.loader is None:
            raise ImportError(request["driver"])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except (ImportError, OSError, ValueError) as error:  # ValueError: built for another numpy
        raise Refusal("driver", str(error)) from None
    module.FAULTS.update(request["faults"])
    return module


def open_camera(request: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Open and start the camera; return it, and its size and limits."""
    driver = load_driver(request)
    try:
        camera = driver.Picamera2(request["number"])
        # libcamera's "RGB888" is B, G, R in memory, as in OpenCV. Without a queue, a picture is never older than the
        # request for it.
        main = {"size": tuple(request["size"]), "format": "RGB888"}
        camera.configure(camera.create_video_configuration(main=main, queue=False))
        names = {*request["controls"], "ExposureTime", "ExposureValue"} & set(camera.camera_controls)
        limits = {name: camera.camera_controls[name][:2] for name in names}
        controls = {name: value for name, value in request["controls"].items() if name in limits}
        if "FrameDurationLimits" in controls:
            controls["FrameDurationLimits"] = (controls["FrameDurationLimits"],) * 2  # least and most
        camera.set_controls(controls)  # before the start, so that they apply to the first picture
        camera.start()
    except (IndexError, RuntimeError) as error:
        raise Refusal("missing", str(error)) from None
    return camera, {"size": list(camera.camera_configuration()["main"]["size"]), "limits": limits}


def write_picture(picture: memoryview, memory: int) -> None:
    """Write a picture into the file in memory."""
    if os.fstat(memory).st_size < picture.nbytes:
        os.ftruncate(memory, picture.nbytes)
    with mmap.mmap(memory, picture.nbytes) as room:
        room[:] = picture.tobytes()


def serve(request: dict[str, Any], answers: IO[str], memory: int) -> None:
    """Write a picture for each number received, and set controls received, until the socket is closed."""

    def answer(**fields: object) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    try:
        camera, opened = open_camera(request)
        answer(**opened)
        for line in answers:
            number = json.loads(line)
            try:
                if isinstance(number, dict):
                    camera.set_controls(number)
                    continue
                picture = camera.capture_array("main")
            except RuntimeError as error:
                raise Refusal("unplugged", str(error)) from None
            write_picture(memoryview(picture), memory)
            answer(number=number, shape=picture.shape, type=str(picture.dtype))
        camera.stop()
        camera.close()
    except Refusal as refusal:
        why, words = refusal.args
        answer(why=why, words=words)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as line, line.makefile("rw", encoding="utf-8") as file:
        serve(json.loads(sys.argv[3]), file, int(sys.argv[2]))
