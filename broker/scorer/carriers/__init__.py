"""Where each carrier is and where it goes next; when the round and the session will be over. Pure."""
