"""Markdown with citations becomes a tree, and the tree becomes what a platform shows. No I/O."""
