"""The project file ``sluice.toml``: its keys (``keys``), the places of its text (``places``), and how it is found and
read (``read``)."""
