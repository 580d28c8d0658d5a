"""From a picture of tile backs to serials in order."""
