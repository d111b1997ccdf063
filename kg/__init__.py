"""From papers to one graph: ingest, sections, concepts, lateral merge, storage."""
