"""A real kiosk program, killed at every write of its journal and in every state, beside a twin that never was."""
