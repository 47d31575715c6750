"""Measures retrieval and citations against judged data. Pure, but for running what is measured."""
