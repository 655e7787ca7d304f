"""The command line: one file per verb; it shows, and decides nothing."""
