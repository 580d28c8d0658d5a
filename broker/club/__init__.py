"""Simulated players, who play whole plays through the referee."""
