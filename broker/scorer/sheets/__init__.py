"""What people read about plays: travellers, a player's sheet, standings. Made from a `Moment`, and pure."""
