"""From a picture of tile backs to serials in order.

`reader.read_picture` reads a picture, `verdict.compare` says what is wrong in the tray, and
`cameras.addresses.open_camera` opens what gives the pictures. Everything else is a stage on that way.
"""

import os

# ONNX Runtime tells its maker of each start unless this is said before it is loaded (since 1.29). A table tells nobody.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# The matrices here are small: shared out among threads they take half as long again, three times as long on a busy
# machine, for OpenBLAS's threads spin while they wait. It looks at this once, when NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
