"""`logging`, warnings and exceptions that end no run: each becomes one log entry, with its level."""

import sys
import threading
import warnings

import failure
import output

WRITTEN = "_written_by_stream"
# Levels of `logging`.
INFO, WARNING, ERROR = 20, 30, 40


class OwnLevel(int):
    pass


def kind_of(level):
    if level >= ERROR:
        return output.ERROR
    if level >= WARNING:
        return output.WARNING
    return output.INFO if level >= INFO else output.DEBUG


def change_logging(logging):
    """What it logs goes to the log of the run."""
    plain_emit = logging.StreamHandler.emit
    plain_basic_config = logging.basicConfig

    # The root's, unless the user sets one.
    own_level = OwnLevel(logging.DEBUG)

    def is_unasked(record):
        """What a package says to those who look for its faults, such as whole requests, where the user sets no level for it."""
        if record.levelno >= INFO or not any(each in str(record.pathname) for each in failure.PACKAGES):
            return False
        # Not by getLogger, which makes one of a name that has none and keeps it.
        known = logging.root.manager.loggerDict
        name = str(record.name)
        while name:
            if getattr(known.get(name), "level", logging.NOTSET) != logging.NOTSET:
                return False
            name = name.rpartition(".")[0]
        return logging.root.level is own_level

    class Handler(logging.Handler):
        """The root's, for whatever no handler of the user's has written to the log already."""

        def emit(self, record):
            if getattr(record, WRITTEN, False) or any(writes_to_log(each) for each in logging.root.handlers):
                return
            if is_unasked(record):
                return
            try:
                output.emit(kind_of(record.levelno), self.format(record))
            except Exception:
                self.handleError(record)

    ours = Handler()

    def emit_to_stream(handler, record):
        """What a user's handler writes to one of the two streams keeps the record's level, and its own format."""
        if not writes_to_log(handler):
            return plain_emit(handler, record)
        setattr(record, WRITTEN, True)
        if is_unasked(record):
            return None
        try:
            return output.emit(kind_of(record.levelno), handler.format(record))
        except RecursionError:
            raise
        except Exception:
            return handler.handleError(record)

    def basic_config(**settings):
        """With settings of the user's it does what it does where nothing is set up; without any there is nothing to do."""
        if settings and logging.root.handlers == [ours]:
            logging.root.removeHandler(ours)
            try:
                return plain_basic_config(**settings)
            finally:
                logging.root.addHandler(ours)
        return plain_basic_config(**settings)

    logging.StreamHandler.emit = emit_to_stream
    logging.basicConfig = basic_config
    logging.root.addHandler(ours)
    logging.root.setLevel(own_level)
    # Says of each event loop that it is there.
    logging.getLogger("asyncio").setLevel(logging.INFO)


def writes_to_log(handler):
    return output.kind_of(getattr(handler, "stream", None)) is not None


def show_warning(message, category, filename, lineno, file=None, line=None):
    text = warnings.formatwarning(message, category, filename, lineno, line)
    if file is None:
        output.emit(output.WARNING, text.rstrip("\n"))
    else:
        file.write(text)


def thread_failed(arguments):
    """An exception that ends a thread."""
    if arguments.exc_type is not SystemExit and arguments.exc_value is not None:
        name = arguments.thread.name if arguments.thread else "unknown"
        output.emit(output.ERROR, f"Exception in thread {name}:\n{failure.text_of(arguments.exc_value)}")


def lost_exception(lost):
    """An exception in a place that can't pass it on, such as `__del__`."""
    if lost.exc_value is not None:
        text = lost.err_msg or "Exception ignored in"
        output.emit(output.ERROR, f"{text}: {lost.object!r}\n{failure.text_of(lost.exc_value)}")


def install():
    warnings.showwarning = show_warning
    threading.excepthook = threading.__excepthook__ = thread_failed
    sys.unraisablehook = lost_exception
