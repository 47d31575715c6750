"""Web pages: what a reader sees, without menus; tables and anchors kept."""
