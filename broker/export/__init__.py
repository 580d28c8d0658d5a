"""Everything that leaves an event: results as CSV, PMN, JSON and PDF, sheets to print, revealed deals."""
