"""An event in many places: a hall's link with the centre, and what the centre takes from its halls."""
