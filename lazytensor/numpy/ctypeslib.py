"""What `import lazytensor.numpy.ctypeslib` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import ctypeslib

sys.modules[__name__] = ctypeslib
