def read_targets(lines):
    """A dict of targets and what each needs, in the order of the file."""
    targets = {}
    for line in lines:
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, needs = line.partition(":")
        targets.setdefault(name.strip(), []).extend(needs.split())
    return targets
