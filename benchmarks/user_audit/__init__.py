"""How well the checks of simulated users find faults that were planted."""
