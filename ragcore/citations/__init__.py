"""Citations: find and repair markers, split sentences, verify what is cited, attribute what is bare.

Nothing is imported here: whoever needs the marker's grammar alone (``markers``) does not pay for the rest (``cite``).
"""
