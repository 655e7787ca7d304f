"""How fast koboshi is. `python -m bench` measures; README.md says what each figure means."""
