"""Running a script in a fresh Python, on a chosen backend, with its last line as JSON."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent


def run(script, *arguments, backend, environment=None, check=True):
    """Runs `tests/scripts/<script>` and returns `(exit status, last line of stdout as JSON)`.

    Args:
        script: File name in `tests/scripts`.
        *arguments: Command-line arguments.
        backend: Keras backend of the new process.
        environment: Further environment variables.
        check: Whether a status other than 0 fails the test with the script's own message.
    """
    env = {**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": str(ROOT)}
    env |= environment or {}
    command = [sys.executable, f"tests/scripts/{script}", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    if check and done.returncode != 0:
        raise AssertionError(f"{script} failed:\n{done.stderr[-3000:]}")
    lines = done.stdout.strip().splitlines()
    try:
        return done.returncode, json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        return done.returncode, None
