"""What is done to a question before it is searched for. Imports nothing.

followups     whether a question stands alone, and what of the conversation it leans on: without a model
leaning       the words of each language by which a question leans on what was said before
possessives   whether "its" belongs to a noun of the same question
refining      the question in words that stand alone, in other languages, with keywords: by a model, and in time
conversation  what was said before, as a model is shown it
replies       what a model replied, believed as far as it can be held to the question
spoken        the names of languages
"""
