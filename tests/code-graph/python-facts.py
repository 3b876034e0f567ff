"""Prints what ast and importlib say about the modules below a folder, as JSON: {path: {symbols, imports}}."""

import ast
import importlib.machinery
import json
import os
import sys
import warnings

root, paths = sys.argv[1], json.load(sys.stdin)
warnings.simplefilter("ignore")


def find(name):
    """The spec of a module of the tree, found without running anything."""
    search, spec = [root], None
    for end in range(1, name.count(".") + 2):
        part = ".".join(name.split(".")[:end])
        spec = importlib.machinery.PathFinder.find_spec(part, search)
        if spec is None:
            return None
        search = spec.submodule_search_locations or []
    return spec


def file_of(name):
    spec = find(name) if name else None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return os.path.relpath(spec.origin, root)


def absolute(path, level, module):
    if level == 0:
        return module
    package = path.split("/")[:-1]
    package = package[: len(package) - (level - 1)]
    return ".".join(package + ([module] if module else []))


def target(path, level, module, names):
    name = absolute(path, level, module)
    found = [file_of(name + "." + one) for one in names if one != "*"]
    modules = [one for one in found if one]
    if names and len(modules) == len(names):
        return sorted(set(modules))
    own = file_of(name) or file_of(name.rpartition(".")[0])
    return sorted(set(modules + ([own] if own else [])))


class Reader(ast.NodeVisitor):
    def __init__(self, path):
        self.path, self.around, self.symbols, self.imports, self.seen = path, [], [], [], set()

    def add(self, line, kind, name):
        self.symbols.append(f"{line} {kind} {'.'.join([n for n, _ in self.around] + [name])}")

    def inside(self, node, name, kind):
        for decorator in getattr(node, "decorator_list", []):
            self.visit(decorator)
        outer, self.seen = self.seen, set()
        self.around.append((name, kind))
        for child in node.body:
            self.visit(child)
        self.around.pop()
        self.seen = outer

    def visit_ClassDef(self, node):
        self.add(node.lineno, "class", node.name)
        self.inside(node, node.name, "class")

    def visit_FunctionDef(self, node):
        is_method = bool(self.around) and self.around[-1][1] == "class"
        self.add(node.lineno, "method" if is_method else "function", node.name)
        self.inside(node, node.name, "function")

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    def names(self, target):
        if isinstance(target, ast.Name):
            yield target
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                yield from self.names(part)
        elif isinstance(target, ast.Starred):
            yield from self.names(target.value)

    def assign(self, targets):
        if self.around and self.around[-1][1] == "function":
            return
        for target in targets:
            for name in self.names(target):
                if name.id in self.seen:
                    continue
                self.seen.add(name.id)
                is_field = bool(self.around)
                is_constant = name.id == name.id.upper() and name.id[0].isalpha() and name.id.isascii()
                self.add(name.lineno, "field" if is_field else "constant" if is_constant else "variable", name.id)

    def visit_Assign(self, node):
        self.assign(node.targets)
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        self.assign([node.target])
        self.generic_visit(node)

    def visit_Call(self, node):
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0] if node.args else None
        is_literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if is_literal and (function == "import_module" or getattr(node.func, "id", "") == "__import__"):
            found = file_of(first.value) or file_of(first.value.rpartition(".")[0])
            self.imports.append(f"{node.lineno} {first.value} {{}} → {found or 'outside'}")
        self.generic_visit(node)

    def visit_Import(self, node):
        for alias in node.names:
            found = file_of(alias.name) or file_of(alias.name.rpartition(".")[0])
            self.imports.append(f"{node.lineno} {alias.name} as {alias.asname or alias.name} → {found or 'outside'}")

    def visit_ImportFrom(self, node):
        names = [alias.name for alias in node.names]
        found = target(self.path, node.level, node.module, names)
        source = "." * node.level + (node.module or "")
        listed = ", ".join(f"{a.name} as {a.asname or a.name}" for a in node.names)
        where = " ".join(found) or ("outside" if node.level == 0 else "unknown")
        self.imports.append(f"{node.lineno} {source} {{{listed}}} → {where}")


reports = {}
for path in paths:
    with open(os.path.join(root, path), "rb") as file:
        try:
            tree = ast.parse(file.read())
        except (SyntaxError, ValueError):
            continue
    reader = Reader(path)
    reader.visit(tree)
    reports[path] = {"symbols": reader.symbols, "imports": reader.imports}
json.dump(reports, sys.stdout)
