"""A job for the tests of Ray whose second part kills its worker."""

import os
import signal

from pomp._parts import Preprocessing


class Dying(Preprocessing):
    def part(self, rank, ranks, progress=None):
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        super().part(rank, ranks, progress)
