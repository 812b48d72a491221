"""What `ragmend doctor` checks: configuration, data, roles, protocol, and the records of a run."""
