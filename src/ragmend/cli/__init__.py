"""The command line: thin runners that do all reading and writing around the pure stages."""
