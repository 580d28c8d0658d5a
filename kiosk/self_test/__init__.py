"""The self-test of the hardware on the table's screen: buttons, scanner, camera, and what the device says of itself."""
