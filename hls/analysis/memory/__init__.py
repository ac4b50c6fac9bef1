"""Memory accesses: strides, access groups, aliases, reaching stores, must-define, commutativity."""
