"""A person when the documents don't know: a question goes to whoever looks after them, and their reply comes back.

    press -> Ask -> card (to the owners) -> Reply -> copy (to the asker), note (to the owners) -> kept as a document

What is to stand on the platforms is kept beside the question, each with how often it was wanted and how often that was
done (``posts``): whatever a crash leaves between two lines is done by whoever comes next.
"""
