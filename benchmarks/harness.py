"""Measure contenders side by side, and print what they did as a table.

The machines this runs on are noisy and drift: contenders take turns within one run, and
what is reported is the median of each and the ratio between them, never one absolute time.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

Contender = Callable[[], object]

# Threads of OpenMP spin for a while after their work, and take a processor from whoever comes
# next: on two of them, 64 frames of 100,000 vertices were bent at 627 M vertices/s 5 ms after
# libigl had done so, at 1.16 G after 300 ms, and at 1.17 G without it.
REST = 0.1
WARM_UP = 0.02  # seconds of runs before those that are measured: a rest leaves everything cold


@dataclass(frozen=True)
class Row:
    """One line of a table: what was measured, who took how many seconds, items per run."""

    case: str
    seconds: dict[str, float]
    items: float


def compare(contenders: dict[str, Contender], rounds: int = 9) -> dict[str, float]:
    """Median seconds of each contender; they take turns, `rounds` times, each after a warm-up.

    One that takes a second and fifty times as long as the fastest is not run again.
    """
    taken = {name: [_seconds(run)] for name, run in contenders.items()}
    fastest = min(seconds[0] for seconds in taken.values())
    for _ in range(rounds - 1):
        for name, run in contenders.items():
            if taken[name][0] < max(1.0, 50 * fastest):
                taken[name].append(_seconds(run))
    return {name: median(seconds) for name, seconds in taken.items()}


def _seconds(run: Contender) -> float:
    """Seconds per run, of as many as the warm-up took."""
    time.sleep(REST)
    runs, start = 0, time.perf_counter()
    now = start
    while now - start < WARM_UP:
        run()
        runs, now = runs + 1, time.perf_counter()
    for _ in range(runs):
        run()
    return (time.perf_counter() - now) / runs


def table(title: str, unit: str, rows: Sequence[Row], ours: str = "bunraku") -> str:
    """A Markdown table: a column per contender, items per second, and ours over the best other."""
    names = list(dict.fromkeys(name for row in rows for name in row.seconds))
    lines = [f"### {title}", "", f"{unit}, higher is better; ×: {ours} over the best other", ""]
    lines += [
        "| case | " + " | ".join(names) + " | × |",
        "|---" * (len(names) + 2) + "|",
    ]
    for row in rows:
        cells = [rate(row.items / row.seconds[n]) if n in row.seconds else "–" for n in names]
        others = [s for name, s in row.seconds.items() if name != ours]
        ratio = f"{min(others) / row.seconds[ours]:.2f}" if others and ours in row.seconds else "–"
        lines.append(f"| {row.case} | " + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(lines)


def rate(per_second: float) -> str:
    """Items per second in three digits: 1.23 G, 45.6 M, 789 k."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if per_second >= size:
            return f"{per_second / size:.3g}{letter}"
    return f"{per_second:.3g}"


def machine() -> str:
    """The processor, its count, and the date of the run, for the head of a report."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf8") as file:
            models = [line.split(":", 1)[1].strip() for line in file if "model name" in line]
        processor = models[0] if models else processor
    except OSError:
        pass
    return f"{processor}, {os.cpu_count()} threads, {time.strftime('%Y-%m-%d')}"


def installed(names: Iterable[str]) -> list[str]:
    """The peers among `names` that can be imported here, with their versions."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
