"""Strange texts, numbers and structures, from every entry to every output."""
