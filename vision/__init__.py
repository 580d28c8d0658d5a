"""From a picture of tile backs to serials in order.

`read_picture` reads a picture, `compare` says what is wrong in the tray, `open_camera` (in `vision.live.cameras`) gives
the pictures. Everything else is a stage on that way.
"""
