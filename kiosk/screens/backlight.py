"""The light behind a display, as Linux lets programs set it: files `brightness` and `max_brightness` in a folder.

Such a folder is there for the Pi's own displays, and for none on HDMI. It is never switched off: a screen that is dark
altogether looks broken, and whoever comes to the table must see that it waits for them.
"""

import logging
from pathlib import Path
from typing import Final

log = logging.getLogger("homologue.kiosk")

LOWERED: Final = 0.3
"""Share of the most that it can give which is left when it is lowered: it can still be read from a chair."""


class Backlight:
    """One display's light. `folder` holds the files, or folders that do, of which the first by name is taken."""

    def __init__(self, folder: Path) -> None:
        """Ask how bright it is. Where there is none, or none that may be set, `lower` says so."""
        self._file: Path | None = None
        try:
            place = next(
                iter(sorted(path.parent for path in [*folder.glob("brightness"), *folder.glob("*/brightness")]))
            )
            most, now = (int((place / name).read_text()) for name in ("max_brightness", "brightness"))
        except (StopIteration, OSError, ValueError) as error:
            log.warning("no light behind the screen can be set in %s: %s", folder, error or "nothing is there")
            return
        self._low = max(1, round(LOWERED * most))
        self._bright = now if now > self._low else most  # a kiosk whose power was cut may have left it low
        self._file, self._lowered = place / "brightness", now <= self._low
        self.lower(dark=False)

    def lower(self, *, dark: bool) -> bool:
        """Lower it, or make it as bright as it was. Say whether it is as wished: else the picture must be darker."""
        if self._file is None:
            return not dark
        if dark != self._lowered:
            try:
                self._file.write_text(str(self._low if dark else self._bright))
            except OSError as error:
                log.warning("the light behind the screen cannot be set: %s", error)
                self._file = None
                return not dark
            self._lowered = dark
        return True

    def close(self) -> None:
        """Leave it bright; may be called twice."""
        self.lower(dark=False)
