"""The page: shows what the daemon tells, and passes orders on. Decides nothing."""
