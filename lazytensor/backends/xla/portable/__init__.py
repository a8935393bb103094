"""Programs that leave: StableHLO in its portable, versioned form, written, read, compiled."""
