"""What staff and players see: pygame, one file a screen."""
