"""Who may do what: accounts, roles, sessions and the audit log. No web and no wire."""
