"""One module per output format, found by scanning."""
