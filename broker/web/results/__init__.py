"""Results in the browser: standings, travellers, player sheets, receipts, the hall display and exports."""
