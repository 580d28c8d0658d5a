"""Training of the room's networks. Never imported at run time: PyTorch is needed here only."""
