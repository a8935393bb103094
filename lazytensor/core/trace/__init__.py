"""When recording ends, and how calls are recorded again: cuts by themselves, the memo of calls."""
