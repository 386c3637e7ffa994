"""The module `svc` of one run. It holds values that came with the run, and calls that the runner makes for it."""

import json
import sys
import types

import storage
from records import Record, ServiceRecord, camel_case

MAX_TIMEOUT = 2**32
MEMBERS = ("parameters", "tag", "comment", "settings")
# They have camelCase names, too.
SETTINGS = ("timeout", "agent_pool_slug", "callback_url", "fresh_process")
# Texts that stand for no parameters, as over REST.
NONE = ("", "null", "[]")


decode = json.JSONDecoder(object_pairs_hook=Record).decode


class ProcessError(Exception):
    """A call of `svc.processes` that failed, or whose run did. What more is known: `code`, `execution_id`, `status`."""

    def __init__(self, message, details=None):
        super().__init__(message)
        details = details or {}
        self.message = message
        self.code = details.get("code")
        self.status = details.get("status")
        self.execution_id = self.executionId = details.get("executionId")


ProcessError.__module__ = "svc"


class Service(types.ModuleType):
    """The module itself; read by key, too."""

    def __getitem__(self, name):
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None


class Methods:
    """Functions by attribute, in snake_case and in camelCase."""

    def __init__(self, name, functions):
        self.__dict__.update(_name=name, **functions)
        self.__dict__.update({camel_case(each): function for each, function in functions.items()})

    def __repr__(self):
        return f"<{self._name}>"


def create(ask):
    """Makes `svc` as far as it is the same for every run. `ask(call, body)` sends a call to the runner and gives its answer."""
    svc = Service("svc", "What a process finds of the service that runs it.")
    svc.processes = Methods("svc.processes", {"run": caller("run", ask), "run_sync": caller("runSync", ask)})
    client = storage.Client(ask)
    svc.storage = Methods("svc.storage", client.storage())
    svc.datastore = Methods("svc.datastore", client.datastore())
    svc.ProcessError = ProcessError
    svc.StorageError = storage.StorageError
    svc.__all__ = ["context", "env", "execution", "team", "processes", "storage", "datastore", "import_module"]
    return svc


def surround(svc, surroundings):
    """Adds what all runs of a version see."""
    time_zone = surroundings["timeZone"]
    svc.env = Record(surroundings["variables"])
    svc.execution = ServiceRecord(process=ServiceRecord(surroundings["process"]), timezone=time_zone)
    svc.team = ServiceRecord(slug=surroundings["team"], timezone=time_zone)


def fill(svc, header, parameters, request):
    """Adds what one run sees: its header, its parameters and request as JSON text."""
    svc.context = ServiceRecord(parameters=record_of(parameters))
    if request:
        svc.context["request"] = ServiceRecord(record_of(request))
    svc.execution = ServiceRecord(id=header["id"], comment=header.get("comment"), **svc.execution)
    if header.get("scheduleId"):
        svc.execution["schedule"] = ServiceRecord(id=header["scheduleId"], comment=header.get("scheduleComment"))


def record_of(text):
    return decode(text.decode())


def install(svc, names, namespace):
    """Makes it a global of the source and a module to import, under each of its names."""
    for name in names:
        namespace[name] = svc
        sys.modules[name] = svc


def caller(method, ask):
    def call(identifier, input=None, **named):
        if input is not None and not isinstance(input, dict):
            raise TypeError(f"What the process gets must be a mapping with {', '.join(MEMBERS)}")
        given = {**(input or {}), **named}
        refuse_others(given, MEMBERS, "")
        parameters = text_of(given.get("parameters")).encode(errors="replace")
        header, value = ask({"method": method, **checked(identifier, given)}, parameters)
        error = header.get("error")
        if error is not None:
            raise ProcessError(error.get("message", ""), error)
        return json.loads(value, object_pairs_hook=Record) if value else header.get("value")

    call.__name__ = call.__qualname__ = method
    return call


def checked(identifier, input):
    if not isinstance(identifier, str) or identifier == "":
        raise TypeError("The process must be named by its id or slug")
    call = {"identifier": identifier}
    for name in ("tag", "comment"):
        if input.get(name) is not None:
            if not isinstance(input[name], str):
                raise TypeError(f"{name} must be a string")
            call[name] = input[name]
    settings = input.get("settings") or {}
    refuse_others(settings, SETTINGS, "settings.")
    settings = {camel_case(name): value for name, value in settings.items()}
    timeout = settings.get("timeout")
    is_number = isinstance(timeout, int) and not isinstance(timeout, bool)
    if timeout is not None and not (is_number and 0 < timeout < MAX_TIMEOUT):
        raise TypeError("settings.timeout must be a whole number of milliseconds")
    call["settings"] = {
        "agentPool": optional_text(settings.get("agentPoolSlug")),
        "callbackUrl": optional_text(settings.get("callbackUrl")),
        "timeoutMs": timeout,
        "freshProcess": settings.get("freshProcess") is True,
    }
    return call


def refuse_others(given, members, where):
    """A misspelt member would be left out, and another version run than was meant."""
    known = {*members, *map(camel_case, members)}
    for name, value in given.items():
        if value is not None and name not in known:
            raise TypeError(f"There is no {where}{name}: there are {', '.join(members)}")


def optional_text(value):
    return None if value is None else str(value)


def text_of(parameters):
    is_none = parameters is None or (isinstance(parameters, str) and parameters.strip() in NONE)
    given = {} if is_none else parameters
    text = given if isinstance(given, str) else json.dumps(given, allow_nan=False)
    if not text.lstrip().startswith("{"):
        raise TypeError("parameters must be an object")
    return text
