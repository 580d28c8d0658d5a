"""The catalogues, a folder a language, and what keeps them: `python -m broker.locale`."""
