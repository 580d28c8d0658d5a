"""The riichi referee: whose turn it is, what may be called or declared, when a dora is turned."""
