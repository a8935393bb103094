"""Settings for the whole suite: how many random programs Hypothesis writes."""

import os

os.environ.setdefault("LAZYTENSOR_SMALL", "0")  # test data is small, and is to be lazy

from hypothesis import HealthCheck, settings

# A compile may take seconds, and comes at unforeseeable examples: time per example says nothing.
SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# Derandomised, so that a change is judged by the same programs as the change before it.
settings.register_profile("ci", max_examples=300, derandomize=True, **SHARED)
settings.register_profile("nightly", max_examples=10_000, print_blob=True, **SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
