"""The op tables. `ops.add(x, y)` records a node."""

from lazytensor.core.failures import guard, guarded
from lazytensor.core.op import element, leaf, scalar, starts
from lazytensor.core.ops.elementwise import *
from lazytensor.core.ops.movement import *
from lazytensor.core.ops.reduction import *
