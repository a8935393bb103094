"""What `import lazytensor.numpy.testing` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import testing

sys.modules[__name__] = testing
