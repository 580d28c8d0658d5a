"""The first stage of a reading: where tiles and hands are in a picture."""
