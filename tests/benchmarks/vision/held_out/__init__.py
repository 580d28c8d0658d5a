"""Pictures of kinds that the reader may meet and was never trained for: other painters, other fonts, other tables."""
