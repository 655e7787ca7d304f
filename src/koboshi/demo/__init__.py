"""The demo: a bad night in under 90 seconds, with a real terminal and a scripted agent."""
