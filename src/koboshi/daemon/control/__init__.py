"""Control: the unix socket that is the only door into the daemon."""
