"""Trains detectors, evaluates them, and says how they are: the runner around `ragmend.detector`."""
