"""Speed and proof: measured, never asserted."""
