"""The value of an MCR hand: validation, the 81 fan and their names, and the library that counts them."""
