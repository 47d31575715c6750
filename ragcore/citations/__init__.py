"""Citations: find and repair markers, split sentences, verify what is cited, attribute what is bare. Pure."""
