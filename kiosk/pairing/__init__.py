"""A device that has no table yet asks the desk for one: code in, configuration out."""
