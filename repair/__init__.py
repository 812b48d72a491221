"""Repair answers claim by claim: split, match, verify, propose, gate, decide, assemble."""
