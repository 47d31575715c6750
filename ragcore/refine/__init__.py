"""What is done to a question before it is searched for. Imports nothing.

followups   whether a question stands alone, and what of the conversation it leans on: without a model
leaning     the words of each language by which a question leans on what was said before
"""
