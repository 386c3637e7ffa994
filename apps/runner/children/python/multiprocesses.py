"""
`multiprocessing` as runs can have it: a process that is not forked would look for the file of the source, which there is
not, and a run may have no Unix sockets but connected pairs.
"""


def change_context(context):
    """Makes fork the way to start processes, whatever the default of this Python is; others are refused where they start one."""
    for kind in (context.SpawnProcess, context.ForkServerProcess):
        kind._Popen = staticmethod(refuse)
    context._default_context._default_context = context._concrete_contexts["fork"]
    context.DefaultContext.get_all_start_methods = lambda _: ["fork"]


def refuse(_):
    raise ValueError("Processes of a run are started by 'fork' alone: use multiprocessing.get_context('fork'), or name none")


def change_connection(connection):
    """Managers and listeners without an address have one that they may have."""
    try:
        connection.socket.socket(connection.socket.AF_UNIX).close()
    except OSError:
        connection.default_family = "AF_INET"
