"""The button box: a Raspberry Pi Pico with the four buttons, on a USB cable."""
