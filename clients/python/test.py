"""
Builds the wheel, installs it into an environment of its own and runs the tests against it.

    python3 clients/python/test.py [ARGUMENTS OF PYTEST]

With arguments, such as tests/test_restart.py, pytest alone runs; without, also what looks at the sources.
The tests speak to the system that E2E_BASE_URL, E2E_TEAM and E2E_API_TOKEN name, or start one; those of restarts always
start their own. What they need comes from PyPI into .cache at the first time. Ends with 3 where PyPI is not reached.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PYPI_IS_AWAY = 3


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036
        print(f"The Python client wants Python 3.11 or later; this is {sys.version.split()[0]}", file=sys.stderr)
        return 1
    environment = make_environment()
    if environment is None:
        return PYPI_IS_AWAY
    with tempfile.TemporaryDirectory(prefix="python-client-") as folder:
        return run(environment, Path(folder), arguments)


def run(environment: Path, work: Path, arguments: list[str]) -> int:
    """All steps, in a folder of this run's own; gives the code of the first that fails."""
    python = str(environment / "bin/python")
    site = work / "site"
    if not install_wheel(python, work / "dist", site):
        return 1
    tests = work / "tests"
    shutil.copytree(HERE / "tests", tests, ignore=shutil.ignore_patterns("__pycache__"))
    settings = str(HERE / "pyproject.toml")
    ruff = [python, "-m", "ruff"]
    mypy = [python, "-m", "mypy", "--config-file", settings, "--cache-dir", str(work / "mypy")]
    pytest = [python, "-m", "pytest", "--config-file", settings, "--rootdir", str(tests), "--import-mode", "importlib"]
    # Tests of the client without async are made of the others, as the client is.
    derive = [python, str(HERE / "derive_sync.py"), "--tests", str(tests)]
    looks = [
        [*ruff, "check", "--quiet", "--no-cache", str(HERE)],
        [*ruff, "format", "--quiet", "--no-cache", "--check", str(HERE)],
        [python, str(HERE / "derive_sync.py"), "--check"],
        [*mypy, "--package", "process_automation"],
        [*mypy, "--explicit-package-bases", str(tests)],
    ]
    steps = [derive, *([] if arguments else looks), [*pytest, *(arguments or [str(tests)])]]
    paths = os.pathsep.join([str(site), str(tests)])
    given = {**os.environ, "REPOSITORY": str(REPOSITORY), "MYPYPATH": paths, "PYTHONPATH": paths}
    return next((code for step in steps if (code := subprocess.run(step, cwd=work, env=given).returncode)), 0)


def make_environment() -> Path | None:
    """A virtual environment with what the tests need; None where it can't be had, and says why."""
    wanted = HERE / "requirements-test.txt"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(version.encode() + wanted.read_bytes()).hexdigest()[:12]
    folder = REPOSITORY / ".cache" / f"python-client-{digest}"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "python-client.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder if (folder / "complete").exists() or fill(folder, wanted) else None


def fill(folder: Path, wanted: Path) -> bool:
    """Makes the environment; says why where it can't."""
    print("What the tests of the Python client need is installed from PyPI, once", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--no-input", "--requirement", str(wanted)]
    made = subprocess.run(pip, stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        last = (made.stderr.strip().splitlines() or ["pip has not said why"])[-1]
        print(f"Nothing was tried: PyPI is not reached, or lacks what is asked for: {last}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        return False
    (folder / "complete").touch()
    return True


def install_wheel(python: str, dist: Path, site: Path) -> bool:
    """Builds the wheel of this folder into `dist` and installs it into `site`."""
    pip = [python, "-m", "pip"]
    build = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(dist), str(HERE)]
    # The build backend looks for its program on the PATH.
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    if subprocess.run(build, env={**os.environ, "PATH": path}).returncode != 0:
        return False
    wheels = [str(path) for path in dist.glob("*.whl")]
    return subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", str(site), *wheels]).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
