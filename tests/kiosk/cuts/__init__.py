"""A real kiosk program, killed at every write of its journal and in every state, compared with a twin that never is."""
