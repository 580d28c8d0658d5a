"""The read interface for other programs: an event under /api/v1, and webhooks for its final results."""
