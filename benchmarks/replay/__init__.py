"""A policy of the tiers, judged offline on recorded programs."""
