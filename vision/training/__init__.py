"""Train the networks on drawn pictures. Nothing here runs at a table."""
