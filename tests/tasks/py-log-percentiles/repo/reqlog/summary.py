from collections import Counter


def summarise(requests, bad, top):
    paths = Counter(request.path for request in requests)
    return {
        "requests": len(requests),
        "bad_lines": bad,
        "errors": sum(request.status >= 500 for request in requests),
        "top": paths.most_common(top),
    }
