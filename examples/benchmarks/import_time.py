"""What `import keras_vaezoo` adds to `import keras`, in fresh processes, in one run.

python examples/benchmarks/import_time.py --runs 7
"""

import argparse
import json
import statistics
import subprocess
import sys

CODE = """
import time
start = time.process_time()
import keras
middle = time.process_time()
import keras_vaezoo
print(middle - start, time.process_time() - middle)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    pairs = []
    for _ in range(runs + 1):
        done = subprocess.run(
            [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
        )
        pairs.append([float(part) for part in done.stdout.split()])
    added = [package / keras for keras, package in pairs[1:]]
    print(
        json.dumps(
            {
                "keras_cpu_seconds": round(statistics.median(k for k, _ in pairs[1:]), 3),
                "keras_vaezoo_adds": round(statistics.median(added), 4),
                "runs": runs,
            }
        )
    )


if __name__ == "__main__":
    main()
