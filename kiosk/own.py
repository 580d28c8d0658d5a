"""What a device knows of itself before it is paired: what is on its table, its screen, where a pairing is kept."""

from pathlib import Path

import msgspec
from msgspec import Struct

from kiosk.config import Devices, OwnConfig, Screen
from kiosk.errors import BadConfiguration


class Own(Struct, frozen=True):
    """A device's own settings, with paths in full."""

    devices: Devices
    screen: Screen
    language: str
    desk: str
    paired: Path
    """The folder where a pairing is kept."""
    camera: str
    """The camera's address."""


def own_settings(path: Path) -> Own:
    """Read what a configuration says of the device. Raises BadConfiguration, also where it names its table itself."""
    try:
        said = msgspec.toml.decode(path.read_bytes(), type=OwnConfig)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path}: {error}") from None
    beside = path.resolve().parent
    kind, _, rest = said.devices.camera.partition(":")
    camera = f"{kind}:{beside / rest}" if kind == "pictures" else said.devices.camera
    return Own(said.devices, said.screen, said.language, said.desk, beside / said.paired, camera)
