"""What `import lazytensor.numpy.linalg` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import linalg

sys.modules[__name__] = linalg
