"""Another version of the program for the tables: bundles that are signed, and slots that are started, or left again."""
