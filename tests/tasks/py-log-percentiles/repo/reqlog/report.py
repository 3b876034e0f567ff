def as_text(summary):
    lines = [
        f"requests  {summary['requests']}",
        f"bad lines {summary['bad_lines']}",
        f"errors    {summary['errors']}",
    ]
    lines += [f"  {count:6} {path}" for path, count in summary["top"]]
    return "\n".join(lines)
