"""The autonomous loop: one plan, one keeper."""
