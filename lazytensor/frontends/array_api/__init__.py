"""The array API standard, lazily, as rows over the core's ops and compositions."""
