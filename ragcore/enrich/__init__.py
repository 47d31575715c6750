"""What a model adds to chunks that are indexed already; ``passing`` runs it. Imports nothing: the settings read this.

options      what is wanted
passing      a knowledge base: what is due is made, and switched live
coming       what documents will take that are not indexed yet, for a dry run
making       a document: each chunk through the steps
steps        what is asked about a chunk, and what of it that fills
asking       the model, asked once
replies      what it writes, made into lists
whole        what is made of a document as a whole, and the steps that do
contents     such a step: a table of contents, where the headings make none
tag_step     the step that gives chunks tags, most of them without a model
tag_reply    what a model writes where it was asked for tags, made into such
growing      such a step: a summary tree, from the chunks up
tree         which parts of a document are summarised together
summaries    what a model writes there, made into a summary, and what that rests on
graph_step   the step that reads out of chunks what they name, for a knowledge graph
graph_reply  what a model writes there, made into such
metadata     such a step: values for the fields of a schema
across       what is made of all documents of the same readers together, and the steps that do
overview     such a step: a summary tree over documents
rubbish      of what kind something is that can't be used
reasons      why something is lacking, as it is kept, and which setting to change
without      what is lacking, and why: it is asked for again, or no more
gathering    which documents are summarised together there
"""
