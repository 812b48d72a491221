"""The shipped experiments, one TOML file each; `ragmend run NAME` takes them by name."""
