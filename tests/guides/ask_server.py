"""Starts a command that stays up, asks it once at the address that it prints, and stops it: `ask_server.py COMMAND`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ADDRESS = re.compile(r"https?://(?:127\.0\.0\.1|localhost):\d+[^\s'\"]*")


def ask(address: str) -> int:
    """The status of the answer; some servers print their address before they listen at it."""
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as answer:
            return answer.code
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            time.sleep(0.1)


def main(command: str) -> int:
    server = subprocess.Popen(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    watchdog = threading.Timer(180, lambda: os.killpg(server.pid, signal.SIGKILL))
    watchdog.start()
    try:
        assert server.stdout
        for line in server.stdout:
            print(line, end="")
            if address := ADDRESS.search(line):
                print(f"{ask(address[0])} from {address[0].partition('?')[0]}")
                return 0
        return 1
    finally:
        watchdog.cancel()
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
