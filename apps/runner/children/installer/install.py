"""
Installs packages into a directory of its own, and hands over what is there as one stream. Runs in a jail of its own.

Arguments: Node, npm's program, a file of certificates; `-` for what is not there. On descriptor 3 it reads one line, an
order: `language`, `packages` (name to specifier), `registry`, `auth` (how npm signs in there, as a line of its settings),
`allowGit`, `maxMb`. On 4 it says `H` when it has started, and then, for each file, the length of a header and the header (JSON: `path`, `executable`, `bytes`), and its bytes; a length of
nought is the end. What the installer prints goes to standard output. Only plain files are handed over.
"""

import compileall
import json
import os
import py_compile
import re
import shlex
import shutil
import struct
import subprocess
import sys

ORDER, ANSWER = 3, 4
LENGTH = struct.Struct("<I")
FOLDERS = {"PYTHON": "site-packages", "JAVASCRIPT": "node_modules"}
PLACE = "/opt/automation/dependencies"
MB = 1024 * 1024
CHUNK = MB
# Packages that one who has too many is told of.
NAMED = 5

NPM = (
    *("install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--omit=dev"),
    *("--no-bin-links", "--install-strategy=hoisted", "--loglevel=warn", "--no-progress"),
    *("--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=8000"),
)
PIP = (
    *("-m", "pip", "--isolated", "--no-input", "--disable-pip-version-check", "install", "--no-cache-dir"),
    *("--no-compile", "--only-binary=:all:", "--progress-bar=off", "--no-warn-script-location", "--root-user-action=ignore"),
    # A set has nothing to do with what this Python has: to look through that takes half of the time.
    "--no-warn-conflicts",
)
# Of packages of numbers a third of all code, which nobody imports here.
TESTS = re.compile(r"/tests/")
CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
GUARD = "--require=" + json.dumps(os.path.join(os.path.dirname(os.path.abspath(__file__)), "no-preparing.cjs"))


def main():
    os.write(ANSWER, b"H")
    order = json.loads(os.fdopen(os.dup(ORDER), "rb").readline())
    node, npm, certificates = ["" if each == "-" else each for each in sys.argv[1:4]]
    home = os.getcwd()
    made = os.path.join(home, "set")
    os.mkdir(made)
    path = os.path.dirname(node) + ":" + os.path.dirname(sys.executable) + ":/usr/local/bin:/usr/bin:/bin"
    refusal = why_not_git(order, path)
    from_git = [name for name, specifier in order["packages"].items() if "://" in specifier]
    if refusal and from_git:
        fail(", ".join(from_git) + ": " + refusal)
    environment = {
        "PATH": path,
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "none" if refusal else "https",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    together = certificates and with_usual_ones(certificates, home)
    if certificates:
        environment.update(NODE_EXTRA_CA_CERTS=certificates, GIT_SSL_CAINFO=together)
    if order["language"] == "PYTHON":
        install_python(order, made, environment, together)
    else:
        install_javascript(order, made, environment, node, npm, home)
    refuse_too_large(os.path.join(made, FOLDERS[order["language"]]), order["maxMb"])
    hand_over(made)


def why_not_git(order, path):
    """Why nothing comes from git, in words; else None."""
    if not order["allowGit"]:
        return "this runner installs nothing from git (DEPENDENCIES_ALLOW_GIT)"
    if order["language"] == "PYTHON" and "@" in host_of(order["registry"]):
        return "what pip builds from git could read the password of the index (PYPI_INDEX_URL)"
    if not shutil.which("git", path=path):
        return "git is not installed on this runner"
    return None


def host_of(registry):
    """With a port and credentials; empty where none is named and the installer's own default counts."""
    return registry.split("/")[2] if registry else ""


def with_usual_ones(certificates, home):
    """For git and pip, which know either their own certificates or those that they are told."""
    together = home + "/certificates.pem"
    usual = next((path for path in CERTIFICATES if os.path.exists(path)), None)
    with open(together, "wb") as file:
        for path in [certificates, *([usual] if usual else [])]:
            with open(path, "rb") as part:
                file.write(part.read() + b"\n")
    return together


def install_javascript(order, made, environment, node, npm, home):
    if not npm:
        fail("npm is not installed on this runner")
    # To npm, an https URL alone is that of an archive.
    wanted = {name: "git+" + each if each.startswith("https://") else each for name, each in order["packages"].items()}
    with open(made + "/package.json", "w", encoding="utf-8") as manifest:
        json.dump({"name": "dependencies", "version": "0.0.0", "private": True, "dependencies": wanted}, manifest)
    settings = home + "/npmrc"
    registry = order["registry"]
    lines = ["cache=" + home + "/npm", "allow-git=" + ("all" if order["allowGit"] else "none")]
    if registry:
        lines.append("registry=" + registry)
    if order["auth"]:
        lines.append("//" + registry.split("://", 1)[1].rstrip("/") + "/:" + order["auth"])
    private_file(settings, *lines)
    own = {"npm_config_userconfig": settings, "npm_config_globalconfig": home + "/none", "NODE_OPTIONS": GUARD}
    # What npm would keep of its compiled code goes with this jail, and takes a third of its time.
    own["NODE_DISABLE_COMPILE_CACHE"] = "1"
    run([node, npm, *NPM], made, {**environment, **own})
    shutil.rmtree(home + "/npm", ignore_errors=True)


def install_python(order, made, environment, certificates):
    target = made + "/site-packages"
    own = [*PIP, "--target", target]
    if order["registry"]:
        # Its password would be seen in an argument.
        index = private_file(environment["HOME"] + "/index.txt", "--index-url " + shlex.quote(order["registry"]))
        own += ["--requirement", index]
    if certificates:
        own += ["--cert", certificates]
    if order["registry"].startswith("http://"):
        # As npm does: who names such an index means it.
        own += ["--trusted-host", host_of(order["registry"]).rpartition("@")[2]]
    wanted = [requirement(name, specifier) for name, specifier in order["packages"].items()]
    # Unbuffered: one that is ended for its time has said where it was.
    run([sys.executable, "-I", "-u", *own, "--", *wanted], made, {**environment, "PIP_CONFIG_FILE": "/dev/null"})
    refuse_too_large(target, order["maxMb"])
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(
        target, quiet=2, rx=TESTS, invalidation_mode=unchecked, stripdir=target, prependdir=PLACE + "/site-packages"
    )


def refuse_too_large(place, max_mb):
    """Ends the install before more work goes into what no run can have, and names what is large."""
    names = os.listdir(place) if os.path.isdir(place) else []
    sizes = {name: size_of(os.path.join(place, name)) for name in names}
    mb = sum(sizes.values()) / MB
    if mb <= max_mb:
        return
    largest = sorted(sizes, key=sizes.get, reverse=True)[:NAMED]
    named = ", ".join(f"{name} {sizes[name] / MB:.1f}" for name in largest)
    print(f"The packages take {mb:.1f} MiB, and a set may have {max_mb} (DEPENDENCIES_MAX_MB). The largest: {named}.")
    fail("Leave out what the code does not need, or give processes sets of their own, by their manifests")


def size_of(path):
    if os.path.isdir(path) and not os.path.islink(path):
        return sum(size_of(entry.path) for entry in os.scandir(path))
    return os.lstat(path).st_size


def private_file(path, *lines):
    """Writes what others on the machine must not read, and gives its path."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def requirement(name, specifier):
    if specifier in ("*", "latest"):
        return name
    if specifier.startswith("git+"):
        return name + " @ " + specifier
    if specifier.startswith("https://"):
        # To pip, an https URL alone is that of an archive.
        return name + " @ git+" + specifier
    return name + (specifier if specifier[0] in "=!<>~" else "==" + specifier)


def run(program, directory, environment):
    status = subprocess.run(
        program, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False
    ).returncode
    if status != 0:
        sys.exit(1)


def fail(words):
    print(words, flush=True)
    sys.exit(1)


def hand_over(made):
    with os.fdopen(ANSWER, "wb", CHUNK) as answer:
        for directory, directories, names in os.walk(made):
            directories.sort()
            for name in sorted(names):
                path = os.path.join(directory, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                status = os.stat(path)
                shown = os.path.relpath(path, made)
                header = {"path": shown, "executable": bool(status.st_mode & 0o111), "bytes": status.st_size}
                data = json.dumps(header).encode()
                answer.write(LENGTH.pack(len(data)))
                answer.write(data)
                send(path, status.st_size, answer)
        answer.write(LENGTH.pack(0))


def send(path, left, answer):
    with open(path, "rb") as file:
        while left > 0:
            chunk = file.read(min(left, CHUNK))
            if not chunk:
                sys.exit(1)
            answer.write(chunk)
            left -= len(chunk)


main()
