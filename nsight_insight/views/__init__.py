"""Facts derived from activities: pure functions, no judgement."""
