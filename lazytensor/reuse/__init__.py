"""The share of code that the frontends have in common, by lines written and by lines run."""
