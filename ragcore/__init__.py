"""Answers questions over indexed documents; knows no chat platform and no source system."""
