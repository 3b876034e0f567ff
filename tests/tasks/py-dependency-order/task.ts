import { edit, grep, read, run, write } from '../expert.ts';
import { expectExit, hitsInCode, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'bug',
  language: 'Python',
  needs: ['python3'],
  prompt:
    'buildorder crashes with RecursionError on our generated targets (a chain of about 20,000), and on a cycle, too. It should work for long chains, and for a cycle raise ValueError with the cycle in its text, like "a -> b -> c -> a" and without targets that are not part of it. The order of the result must stay as it is today.',
  tests: 'python3 -m unittest',
  check: 'python3 -m unittest test_hidden test_order',
  wrong: {
    'a higher limit': [
      {
        file: 'graph.py',
        from: '    done = []\n',
        to: '    import sys, threading\n    sys.setrecursionlimit(10**6)\n    done = []\n    open_ = []\n',
      },
      {
        file: 'graph.py',
        from: '        for need in',
        to: '        if name in open_:\n            raise ValueError(" -> ".join([*open_[open_.index(name):], name]))\n        open_.append(name)\n        for need in',
      },
      { file: 'graph.py', from: '        done.append(name)', to: '        done.append(name)\n        open_.pop()' },
    ],
    'the whole way named': [
      {
        file: 'graph.py',
        from: '        for need in',
        to: '        if name in way:\n            raise ValueError(" -> ".join([*way, name]))\n        way.append(name)\n        for need in',
      },
      { file: 'graph.py', from: '        done.append(name)', to: '        done.append(name)\n        way.pop()' },
      { file: 'graph.py', from: '    done = []\n', to: '    done = []\n    way = []\n' },
    ],
  },
  *expert() {
    const [place] = hitsInCode(yield* grep('def order'));
    const path = place?.path ?? '';
    const code = textOf(yield* read(path));
    const chain = `python3 -c 'from graph import order; print(len(order({f"t{n}": [f"t{n + 1}"] for n in range(20000)})))'`;
    const fails = yield* run(chain);
    if (!fails.includes('RecursionError')) throw new Error('the defect does not show');
    const head = code.slice(0, code.indexOf('    done = []'));
    yield* write(
      path,
      `${head}    done = {}
    for name in targets:
        if name not in done:
            _visit(name, targets, done)
    return list(done)


def _visit(first, targets, done):
    """Adds a target after what it needs. \`way\` has the open targets, each with the needs that are left."""
    way = {first: iter(targets.get(first, []))}
    while way:
        name = next(reversed(way))
        need = next(way[name], None)
        if need is None:
            del way[name]
            done[name] = True
        elif need in way:
            names = list(way)
            raise ValueError(" -> ".join([*names[names.index(need) :], need]))
        elif need not in done:
            way[need] = iter(targets.get(need, []))
`,
    );
    expectExit(yield* run(chain), 0);
    const tests = yield* read('test_order.py');
    const last = textOf(tests).trimEnd().split('\n').at(-1) ?? '';
    yield* edit(
      'test_order.py',
      last,
      `${last}

    def test_a_cycle(self):
        with self.assertRaisesRegex(ValueError, "^a -> b -> a$"):
            order({"x": ["a"], "a": ["b"], "b": ["a"]})`,
    );
    expectExit(yield* run('python3 -m unittest && git diff'), 0);
    return 'order visits without recursion, keeps its order, and names a cycle in a ValueError. A chain of 20,000 works; tests pass.';
  },
});
