"""Statistics: arrays in, named results out; nothing here knows a table or a file."""
