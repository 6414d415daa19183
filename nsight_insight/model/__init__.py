"""The profile model: frozen data, no I/O, no knowledge of formats or rules."""
