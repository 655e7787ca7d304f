"""Figures: what happened to agents, counted; for programs that draw and people who look back."""
