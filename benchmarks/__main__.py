"""Every benchmark, each in a process of its own; exits 1 when one of them is over a budget."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("replay", "live", "scale", "gate")


def main() -> None:
    """Run them all, and say last which failed."""
    failed = []
    for name in BENCHMARKS:
        print(f"\n{name}\n{'=' * len(name)}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"over a budget, or broken off: {', '.join(failed)}")
    print(f"within their budgets: {', '.join(BENCHMARKS)}")


if __name__ == "__main__":
    main()
