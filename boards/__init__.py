"""Board descriptions: one TOML file a board (data only)."""
