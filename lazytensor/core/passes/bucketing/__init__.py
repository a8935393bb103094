"""Sizes that change from run to run: one program for all up to a capacity.

Data flow. A program that is new is one of a family: the programs that are the same but for sizes
(`runtime/shape_buckets.py`). Once a family has several, the program is laid beside another of it,
composites opened where sizes differ (`compare.py`); what differs says which axes grow. All of these
are made as long as a capacity, the size itself becomes a slot (`pad.py`), and what reads along such
an axis is told where it ends, by the rules of its op (`rules.py`). That program is equal for all
sizes of the family up to the capacity, and so it is found in the cache. `Link` says how a run of
the one becomes a run of the other. A result with such an axis is settled as `Padded`: the next
program of that capacity takes the buffer as it is, and overwrites it if nobody else needs it.

Invariants:
- A node's type is what the user sees. Only its value may be `Padded`, and only `executor` hands
  the buffer of one to a program: to a parameter of its capacity. Everybody else asks for values by
  `backend.on_host`, `scheduler.fetch` or `executor`, which trim it.
- What lies beyond the size is anything, NaN and infinities too: it is never multiplied by zero, but
  replaced where it would count. No rule reads or writes beyond the capacity.
- A rule looks at one program: whatever axes are said to grow, what it emits is right at the present
  size. The comparison decides only what is shared.
- What of a slot's value a rule has relied on is checked before each run; where it does not hold,
  where an op has no rule, or where padding would not pay, programs are run as if there were no
  families.
"""
