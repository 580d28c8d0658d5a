"""How quick and how fair the devices in players' hands are."""
