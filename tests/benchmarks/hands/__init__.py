"""Measure the speed and robustness of buttons, button box and scanner: `make bench-hands`."""
