"""What a person sets: TOML and environment → `core.settings.Settings`."""
