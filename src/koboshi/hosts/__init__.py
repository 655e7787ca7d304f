"""Where terminals live."""
