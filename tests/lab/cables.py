"""Unplug the camera and the button box, and plug them in again."""

from typing import Final

from tests.lab.report import Report
from tests.lab.table import LabTable

UNPLUG_CAMERA: Final = """
systemctl stop lab-camera
for try in $(seq 120); do rmmod v4l2loopback 2>/dev/null && exit 0; sleep 1; done
exit 1"""
PLUG_CAMERA: Final = "sh /usr/lib/lab/hardware camera && systemctl start lab-camera"

CABLE: Final = "/sys/bus/usb/devices/1-1/authorized"
UNPLUG_BOX: Final = f"echo 0 >{CABLE}; while [ -e /dev/ttyACM0 ]; do sleep 0.2; done"
PLUG_BOX: Final = f"echo 1 >{CABLE}; while [ ! -e /dev/ttyACM0 ]; do sleep 0.2; done"
"""The box keeps its power while its cable is unplugged, and stores presses. (dummy_hcd cannot be plugged in again by
its gadget's `soft_connect`: after that it does not answer.)"""


def run(table: LabTable, report: Report) -> None:
    """Unplug the camera while the table restores a deal, then start a play, and unplug the box."""
    health = table.outside.wait_for_health
    with report.check("a camera that is pulled out is named on the desk"):
        table.go_on()
        table.machine.must(UNPLUG_CAMERA)
        health("camera", well=False)
    with report.check("plugged in again it reads a tray, and nothing is wrong with it any more"):
        table.machine.must(PLUG_CAMERA)
        health("camera", well=True)
        table.read_tray(3, "west")
        table.set_up(3)
    with report.check("a button box takes the place of the pins; its cable pulled out is named on the desk"):
        table.use_box()
        table.in_state("confirming")
        table.machine.must(UNPLUG_BOX)
        health("buttons", well=False)
    with report.check("what was pressed at a box without its cable counts when it is in again, and the play begins"):
        table.press("east", "south")
        table.machine.must(PLUG_BOX)
        health("buttons", well=True)
        table.press("west", "north")
        table.in_state("playing")
    with report.check("with its buttons on pins again the table goes on in that play"):
        table.use_pins()
        table.in_state("playing")
