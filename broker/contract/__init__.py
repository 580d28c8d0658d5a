"""What goes over the wire: words, topics and messages. A leaf: it imports no other room."""
