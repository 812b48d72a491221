"""Other projects' per-record result files, turned into the tables that analysis reads.

A map (TOML) says what stands where; nothing in it is ever executed.
"""
