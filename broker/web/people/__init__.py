"""The pages for logging in and for managing accounts."""
