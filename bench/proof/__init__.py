"""Planted pathologies with known cause and cure, captured on a real GPU, and a score of the findings on them."""
