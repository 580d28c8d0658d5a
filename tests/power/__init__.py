"""The power goes while real processes write: every state that a disk may be left in is opened by the real programs."""
