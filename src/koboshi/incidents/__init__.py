"""What is made of an incident: a bundle to look into, a prompt for an agent, a program to run."""
