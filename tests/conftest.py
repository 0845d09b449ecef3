"""One thread for each worker of pytest-xdist: workers that share the cores slow each other down."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS"):
        os.environ.setdefault(variable, "1")
