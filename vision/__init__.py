"""From a picture of tile backs to serials in order.

`cameras.addresses.open_camera` opens a camera, `reader.read_picture` reads one of its pictures, and `verdict.compare`
reports what is wrong in the tray.
"""

import os

# Since 1.29 ONNX Runtime reports each start to its maker unless this is set before it is loaded. A table sends nothing.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# The matrices here are small. Spread over several threads they take half as long again, and three times as long on a
# busy machine, because OpenBLAS's threads spin while they wait. OpenBLAS reads this once, when NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
