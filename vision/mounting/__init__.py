"""Help to mount a camera: measurements, hints, a window and the command `homologue camera`."""
