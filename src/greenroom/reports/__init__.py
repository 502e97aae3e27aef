"""Reports: stored results as people want to read them."""
