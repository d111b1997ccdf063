"""Papers as they are cited: names of authors, citation styles, entries of the list, BibTeX and CSL-JSON."""
