"""Records of riichi games in Tenhou's format."""
