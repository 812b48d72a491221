"""What an analysis is given: records laid out as frames, and anyone's label tables, checked."""
