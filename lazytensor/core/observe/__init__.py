"""What is reported: events, metrics, reasons of recompiles, warnings."""
