"""Pictures of a graph: the concept neighbourhood of a question, and the whole in communities."""
