"""Events in several halls: a hall's link with the centre, and the centre's intake of its halls' journals."""
