"""The tables of a running event: dashboard, grid, orders, carriers, devices and pairing."""
