"""The central side of Homologue: protocol, rules, scoring, scorer, desk and brokers."""
