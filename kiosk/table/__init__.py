"""The table's rules of procedure: pure, no device, no clock."""
