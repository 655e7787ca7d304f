"""A person's own terminal around an agent: every byte passed both ways, and put back at the end."""
