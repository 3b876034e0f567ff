import { edit, grep, read, run } from '../expert.ts';
import { expectExit, found, hitsInCode, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const atOnce = `    def move(self, item, source, target, count):
        """Moves items from one warehouse to another: whole or not at all."""
        self.move_all([(item, source, target, count)])

    def move_all(self, moves):
        """Makes several moves: all of them or none."""
        amounts = {name: dict(items) for name, items in self._amounts.items()}
        entries = list(self.journal.entries)
        try:
            for item, source, target, count in moves:
                self.take(source, item, count)
                self.put(target, item, count)
        except Exception:
            self._amounts = amounts
            self.journal.entries[:] = entries
            raise`;

export const task = defineTask({
  kind: 'bug',
  language: 'Python',
  needs: ['python3'],
  prompt:
    'Stock disappears. When a move is refused because the target warehouse is full (or unknown), the items are gone from the source warehouse and the journal has half a move. A refused move must change nothing, and move_all must do what its docstring says.',
  tests: 'python3 -m unittest discover -s tests -t .',
  check: 'python3 -m unittest tests.test_hidden tests.test_inventory',
  wrong: {
    'put first': [
      {
        file: 'stock/inventory.py',
        from: '        self.take(source, item, count)\n        self.put(target, item, count)\n',
        to: '        self.put(target, item, count)\n        self.take(source, item, count)\n',
      },
    ],
    'single moves alone': [
      {
        file: 'stock/inventory.py',
        from: '        self.put(target, item, count)\n',
        to: '        try:\n            self.put(target, item, count)\n        except Exception:\n            self.put(source, item, count)\n            raise\n',
      },
    ],
  },
  *expert() {
    const [place] = hitsInCode(yield* grep('def move'));
    const path = place?.path ?? '';
    const file = yield* read(path);
    const error = found(file, /raise (\w+Error)\(f"\{warehouse/);
    const script = `from stock import Inventory
one = Inventory({"a": {"x": 5}, "b": {}}, limits={"b": 1})
try: one.move("x", "a", "b", 5)
except ${error}: print("left:", one.amount("a", "x"), one.journal.entries)`;
    if (!(yield* run(`python3 - <<'END'\n${script}\nEND`)).includes('left: 0'))
      throw new Error('the defect does not show');
    yield* read('stock/journal.py');
    yield* edit(path, part(file, 'def move(', 'self.move(item'), atOnce);
    const shown = yield* run(`python3 - <<'END'\n${script}\nEND`);
    found(shown, /(left: 5 \[\])/);
    const test = `
    def test_a_refused_move_changes_nothing(self):
        inventory = make()
        with self.assertRaises(${error}):
            inventory.move("bolts", "north", "south", 46)
        self.assertEqual(inventory.amount("north", "bolts"), 100)
        self.assertEqual(inventory.journal.entries, [])
`;
    const tests = yield* read('tests/test_inventory.py');
    const end = part(tests, 'make().put("south"');
    yield* edit('tests/test_inventory.py', end, `${end}\n${test.trimEnd()}`);
    expectExit(yield* run('python3 -m unittest discover -s tests -t . && git diff --stat'), 0);
    return 'A refused move now restores amounts and journal, and move_all is all or none. Tests pass, one more for a full target.';
  },
});
