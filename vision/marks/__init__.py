"""What the backs say: labels and printed numbers, each tile cut out flat and read by itself."""
