"""What `import lazytensor.numpy.rec` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import rec

sys.modules[__name__] = rec
