"""The part that runs: one supervisor per agent."""
