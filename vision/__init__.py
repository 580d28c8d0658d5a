"""From a picture of tile backs to serials in order.

`read_picture` reads a picture, `compare` says what is wrong in the tray, `open_camera` (in `vision.live.cameras`) gives
the pictures. Everything else is a stage on that way.
"""

import os

# ONNX Runtime tells its maker of each start unless this is said before it is loaded (since 1.29). A table tells nobody.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
