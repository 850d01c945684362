"""Trees in a process that was forked while a thread of its parent was busy with them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

SCRIPT = """
import os, signal, sys, threading, warnings
import numpy as np
from bunraku import RigError
from bunraku.query import Bvh

warnings.simplefilter("ignore")  # newer Pythons warn of forks with threads: they are meant here
rng = np.random.default_rng(1)
points = rng.normal(size=(60_000, 3)).astype("f4")
tree = Bvh(points, rng.integers(0, len(points), (20_000, 3)))
origins = rng.normal(size=(300, 3))
expected = tree.closest_hit(origins, -origins).t
busy = {"ask": lambda: tree.closest_hit(origins, -origins), "refit": lambda: tree.refit(points)}
stop = False

def keep_on():
    while not stop:
        busy[sys.argv[1]]()

thread = threading.Thread(target=keep_on)
thread.start()
failures = torn = 0
for attempt in range(12):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that hangs is a failure, not a hang of the tests
        try:
            found = tree.closest_hit(origins, -origins).t
        except RigError as error:
            said = "tree: was being refitted when this process was forked" in str(error)
            tree.refit(points)
            found = tree.closest_hit(origins, -origins).t
            os._exit(3 if said and (found == expected).all() else 1)
        tree.refit(points)
        again = tree.closest_hit(origins, -origins).t
        os._exit(0 if (found == expected).all() and (again == expected).all() else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    torn += status == 3
    failures += status not in (0, 3)
stop = True
thread.join()
print(failures, torn)
"""


@pytest.mark.parametrize("busy", ["ask", "refit"])
def test_a_child_does_not_wait_for_its_parents_threads(busy: str) -> None:
    command = [sys.executable, "-c", SCRIPT, busy]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    failures, torn = map(int, done.stdout.split())
    assert failures == 0
    if busy == "ask":
        assert torn == 0
