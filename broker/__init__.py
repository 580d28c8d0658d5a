"""The room's side of the wire: contract, rules, scoring, scorer, desk and brokers."""
