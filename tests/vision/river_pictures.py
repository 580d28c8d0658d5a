"""Pictures of a seat's tiles at the end of a play, drawn tile by tile."""

from collections.abc import Sequence

from vision.geometry import Picture
from vision.sim.camera import SimulatedCamera
from vision.sim.scene import lay_hand, lay_river
from vision.sim.table import LooseTile, SimulatedTable, SimulatedTile


def river_picture(serials: Sequence[int], seed: int = 0) -> Picture:
    """Draw a river; 0 is a gap."""
    return _picture(lay_river([SimulatedTile(3, serial) if serial else None for serial in serials]), seed)


def hand_picture(groups: Sequence[Sequence[int]], seed: int = 0) -> Picture:
    """Draw a hand and its melds."""
    return _picture(lay_hand([[SimulatedTile(3, serial) for serial in group] for group in groups]), seed)


def _picture(loose: tuple[LooseTile, ...], seed: int) -> Picture:
    table = SimulatedTable()
    table.spread(loose)
    with SimulatedCamera(
        f"sim://tray?seed={seed}&width=1280&height=720&noise=2&blur=0.5&tilt=3", world=table
    ) as camera:
        return camera.frame()
