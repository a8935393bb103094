"""Running programs: scheduler, caches, tiers, executor."""
