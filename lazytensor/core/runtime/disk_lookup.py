"""Whether a program is looked up on disk. Most processes never need the imports of `disk_cache`."""

from __future__ import annotations

from lazytensor.core.device.backend import is_loaded
from lazytensor.core.runtime import cost_model
from lazytensor.core.runtime.program_cache import Entry
from lazytensor.core.settings import settings


def is_known_to_pay(entry: Entry) -> bool:
    """Whether XLA saved more than its import took in an earlier process that ran this program."""
    if entry.pays is None:
        from lazytensor.core.runtime import disk_cache

        entry.pays = settings.disk and disk_cache.pays(entry.program)
    return entry.pays


def is_worth_a_look(entry: Entry) -> bool:
    """Whether looking a program up costs little against what interpreting it has cost.

    The backend loads what is found. It is imported sooner for a program that is known to pay.
    """
    if not settings.disk or cost_model.debt(entry) < cost_model.DISK_LOOKUP_SECONDS:
        return False
    if is_loaded():
        return True
    seconds = cost_model.estimate(entry)
    return cost_model.may_import(0.0, seconds, cost_model.KNOWN_SHARE) and is_known_to_pay(entry)
