"""Writers and checkers: reports whose every claim leads to a passage."""
