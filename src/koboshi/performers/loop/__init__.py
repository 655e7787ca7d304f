"""What the autonomous loop does to the outside: firing agents, judging what they did."""
