from collections import namedtuple

Request = namedtuple("Request", "method path status ms")


def read_requests(lines):
    """The requests of a log, and the number of lines that are none."""
    requests, bad = [], 0
    for line in lines:
        if not line.strip():
            continue
        try:
            method, path, status, ms = line.split()
            requests.append(Request(method, path, int(status), float(ms)))
        except ValueError:
            bad += 1
    return requests, bad
