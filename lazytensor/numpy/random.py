"""What `import lazytensor.numpy.random` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import random

sys.modules[__name__] = random
