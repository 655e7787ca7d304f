"""Command lines, read as a shell reads them: `scripts.read_script` is the door."""
