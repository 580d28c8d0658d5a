"""Set an event up in the browser, and correct its plan once it has begun."""
