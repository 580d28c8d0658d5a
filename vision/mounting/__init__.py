"""Help with mounting a camera: measurements, hints, a window, and the commands `homologue camera` and `lens`."""
