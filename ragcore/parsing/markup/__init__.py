"""Texts with markup: Markdown, reStructuredText, notebooks."""
