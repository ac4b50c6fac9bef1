"""What it takes to build a design into another: its description (``interface.json``), and files for other tools."""
