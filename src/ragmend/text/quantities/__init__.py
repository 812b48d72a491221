"""Numbers, dates, times and units as comparable values."""
