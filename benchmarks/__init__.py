"""Speed and memory, as ratios measured in one run with the naive way beside ours."""
