"""The program that is flashed on the Pico of the button box."""
