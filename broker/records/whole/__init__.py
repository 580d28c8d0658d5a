"""An event as one JSON document, and back."""
