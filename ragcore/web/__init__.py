"""The web as a place to search: engines, pages that are read within bounds, and passages that are cited like any.

Nothing of documents or of what others said leaves: an engine is asked with the question's own words, and a page with
its address alone.
"""
