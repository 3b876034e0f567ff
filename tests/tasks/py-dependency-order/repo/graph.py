def order(targets):
    """The targets, each after all that it needs. Otherwise they keep the order of the file."""
    done = []

    def visit(name):
        if name in done:
            return
        for need in targets.get(name, []):
            visit(need)
        done.append(name)

    for name in targets:
        visit(name)
    return done
