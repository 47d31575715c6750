"""Tags of texts, from a tag set: a knowledge base whose rows are texts with the tags that texts like them get.

tag_set   the rows, and which of them a text resembles
scores    what tags those give, and how alike two texts are by their tags
sets      tag sets read from a library, and kept while they stay the same
feature   how alike question and chunk are by their tags: counts in the order of what is relevant
"""
