"""The catalogues, one folder per language, and the tool that maintains them: `python -m broker.locale`."""
