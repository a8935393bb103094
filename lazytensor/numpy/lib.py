"""What `import lazytensor.numpy.lib` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import lib

sys.modules[__name__] = lib
