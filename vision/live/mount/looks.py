"""Looks through a camera, one after the other: a picture each, or what is wrong instead of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event

from vision.errors import PictureError
from vision.geometry import Picture
from vision.live.camera import Unmet
from vision.live.cameras import open_camera
from vision.live.feed import CameraCame, CameraEvent, CameraLost, Feed
from vision.live.pictures import PicturesCamera
from vision.twins.world import TrayTwin

_FIRST = 8  # frames until a camera has settled its exposure and focus: `--once` takes the last of them
_PATIENCE_S = 1.0  # without a frame; then what is wrong is told again


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One picture with its name, or what is wrong instead; `unmet` are settings that the camera did not take."""

    name: str
    picture: Picture | CameraLost
    unmet: tuple[Unmet, ...] = ()


def one_shot(address: str) -> Shot:
    """Take one picture, when the camera has settled. Raises VisionError."""
    with open_camera(address) as camera:
        for _ in range(0 if camera.pause else _FIRST):
            camera.frame()
        return Shot(_name(camera, 1), camera.frame(), camera.unmet)


def folder_shots(address: str) -> Iterator[Shot]:
    """Give every picture of a folder once; one that cannot be read stops no other. Raises CameraError."""
    with open_camera(address) as camera:
        number = 0
        while not camera.ended:
            number += 1
            try:
                picture: Picture | CameraLost = camera.frame()
            except PictureError as error:
                picture = CameraLost(error.code, str(error))
            yield Shot(_name(camera, number), picture, camera.unmet)


def live_shots(address: str, every: float) -> Iterator[Shot]:
    """Give the newest picture every so many seconds, for ever; a lost camera is told, and comes back by itself."""
    told: SimpleQueue[CameraEvent] = SimpleQueue()
    number = 0
    unmet: tuple[Unmet, ...] = ()
    lost: CameraLost | None = None
    world = TrayTwin()  # the simulated table stays while its camera is opened anew
    with Feed(lambda: open_camera(address, world=world), told.put) as feed:
        while True:
            frame = feed.wait(number, max(every, _PATIENCE_S))
            for event in _events(told):
                lost = event if isinstance(event, CameraLost) else None
                unmet = event.unmet if isinstance(event, CameraCame) else unmet
                if lost is not None and frame is not None:
                    yield Shot("camera", lost)  # it is back already
            if frame is not None:
                number = frame.number
                yield Shot(str(number), frame.picture, unmet)
            elif lost is not None:
                yield Shot("camera", lost)
            Event().wait(every)


def _events(told: "SimpleQueue[CameraEvent]") -> Iterator[CameraEvent]:
    while True:
        try:
            yield told.get_nowait()
        except Empty:
            return


def _name(camera: object, number: int) -> str:
    return camera.shown.name if isinstance(camera, PicturesCamera) and camera.shown else str(number)
