"""What is said of a module that can't be found: which names come near, and how a package is added."""

import os
import sys

MAX_NAMES = 3
MAX_LENGTH = 100
HOW_TO_ADD = (
    "to add a package, name it in the team's dependencies or in the process's manifest,"
    " or save the process with settings.dependencies.autoDetect"
)

NOT_INSTALLED = "packages that were asked for could not be installed"

# Names that lead somewhere beside Python's own, of the program of this process.
known = {"names": (), "packages": None, "unmet": (), "fault": None}


def prepare(names, packages, unmet, fault):
    """
    `packages`: where installed ones lie; None where there are none. `unmet`: what is known of imports of the program that
    lead to no module of the team. `fault`: why packages that were asked for are not there; None where none are missing.
    """
    known.update(names=tuple(names), packages=packages, unmet=unmet, fault=fault)


def explain(error):
    """Adds to what a ModuleNotFoundError of Python's own says; others stay as they are."""
    if type(error) is ModuleNotFoundError and error.name and error.msg == f"No module named {error.name!r}":
        error.msg += hint(error.name)


def hint(name):
    """The end of the sentence on a name that leads nowhere."""
    of_team = [other for each in known["unmet"] if each["name"] == name for other in each["near"]]
    near = nearest(name, {*of_team, *known["names"], *installed(), *public(sys.stdlib_module_names)})
    how = HOW_TO_ADD if known["fault"] is None else f"{NOT_INSTALLED}: {known['fault']}"
    if not near:
        return f"; {how}"
    return f"; did you mean {' or '.join(map(repr, near))}? {how[0].upper()}{how[1:]}"


def versions_of(name, tag):
    """Versions that there are of a module whose version is not there, the end of a sentence; None where none are known."""
    for each in known["unmet"]:
        if (each["name"], each["tag"]) != (name, tag):
            continue
        if each.get("hasNoVersions"):
            return f"{name} has no versions"
        if each["versions"]:
            return "there are " + ", ".join(map(repr, each["versions"]))
    return None


def installed():
    try:
        entries = os.listdir(known["packages"] + "/site-packages") if known["packages"] else ()
    except OSError:
        return ()
    return public(each.partition(".")[0] for each in entries if not each.endswith((".dist-info", ".pth", ".libs")))


def public(names):
    return {each for each in names if each.isidentifier() and not each.startswith("_")}


def nearest(name, names):
    wanted = plain(name)
    if len(wanted) > MAX_LENGTH:
        return []
    most = 1 if len(wanted) < 5 else 2
    found = [(distance(wanted, plain(each)), each) for each in names if abs(len(plain(each)) - len(wanted)) <= most]
    return [each for far, each in sorted(found) if far <= most and each != name][:MAX_NAMES]


def plain(name):
    return name.lower().replace("-", "").replace("_", "").replace(".", "")


def distance(a, b):
    """How many letters are to be added, left out, changed, or swapped with the next."""
    before, last = [], list(range(len(b) + 1))
    for i, one in enumerate(a):
        row = [i + 1]
        for j, other in enumerate(b):
            row.append(min(last[j] + (one != other), last[j + 1] + 1, row[j] + 1))
            if i and j and one == b[j - 1] and a[i - 1] == other:
                row[-1] = min(row[-1], before[j - 1] + 1)
        before, last = last, row
    return last[-1]
