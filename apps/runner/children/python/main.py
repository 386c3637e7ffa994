"""
main.py [domains]: a child that runs Python processes, one run at a time. This process never sees user code run: it keeps
one fork ready ahead, passes frames between it and the runner, ends all of it when its run is over, and imports what of
Python's own library its program names. `domains`: forks get Landlock domains of their own.
A starter may import this, for children that are forks of it and call `live`.
"""

import os
import sys

own_directory = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [own_directory, os.path.abspath(own_directory + "/../../../../libs/jail/python")]

import warm

with warm.forks_noted():
    import traceback

    import zygote


def live(arguments):
    try:
        zygote.Zygote(has_domains="domains" in arguments).serve()
    except BaseException:
        # A fault of this program itself.
        os.write(2, traceback.format_exc().encode())
        os._exit(70)


if __name__ == "__main__":
    live(sys.argv)
