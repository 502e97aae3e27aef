"""The fastworkflow agent: adapter, bridge, tool map, workers and training."""
