"""What `import lazytensor.numpy.fft` gives: the module that `lazytensor.numpy` has."""

import sys

from lazytensor.frontends.numpy.modules import fft

sys.modules[__name__] = fft
