import { edit, grep, read, readAll, run } from '../expert.ts';
import { expectExit, hitsInCode, part, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'bug',
  language: 'Python',
  needs: ['python3'],
  prompt:
    'Settings of one tenant show up at another: after Settings({"server": {"port": 1}}) every later Settings() has port 1, and one of us saw DEFAULTS changed by an append to a list that get() returned. Also the dicts that callers pass in must never change. And as the README says, null removes a key: also when the table around it is new.',
  tests: 'python3 -m unittest discover -s tests -t .',
  check: 'python3 -m unittest tests.test_hidden tests.test_settings',
  wrong: {
    'a shallow copy': [
      { file: 'layers/settings.py', from: 'self.values = DEFAULTS', to: 'self.values = dict(DEFAULTS)' },
    ],
    'a deep copy of the defaults alone': [
      { file: 'layers/settings.py', from: 'self.values = DEFAULTS', to: 'self.values = copy.deepcopy(DEFAULTS)' },
      { file: 'layers/settings.py', from: 'import json\n', to: 'import copy\nimport json\n' },
    ],
  },
  *expert() {
    const [use] = hitsInCode(yield* grep('DEFAULTS$', { path: 'layers' }));
    const [settings = '', merge = ''] = yield* readAll(use?.path ?? '', 'layers/merge.py');
    const shows = `python3 -c 'from layers import Settings; Settings({"server": {"port": 1}}); print("port", Settings().get("server.port"))'`;
    if (!(yield* run(shows)).includes('port 1')) throw new Error('the defect does not show');
    yield* edit(
      'layers/merge.py',
      part(merge, 'for key, value', 'return base'),
      `    merged = copy.deepcopy(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            known = merged.get(key)
            merged[key] = merge(known if isinstance(known, dict) else {}, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged`,
    );
    yield* edit('layers/merge.py', part(merge, 'def merge'), `import copy\n\n\n${part(merge, 'def merge')}`);
    yield* edit(use?.path ?? '', part(settings, 'self.values = DEFAULTS'), '        self.values = merge({}, DEFAULTS)');
    const tests = textOf(yield* read('tests/test_settings.py'));
    const last = part(`lines\n1\t${tests.trimEnd().split('\n').at(-1)}`, 'assert');
    yield* edit(
      'tests/test_settings.py',
      last,
      `${last}

    def test_settings_share_nothing(self):
        Settings({"server": {"port": 1}}).get("log.outputs").append("x")
        self.assertEqual(Settings().get("server.port"), 8080)
        self.assertEqual(Settings().get("log.outputs"), ["stderr"])`,
    );
    expectExit(yield* run(`${shows} && python3 -m unittest discover -s tests -t .`), 0);
    yield* run('git diff layers');
    return 'merge makes new tables and lists and leaves both arguments as they are; Settings starts from a copy of the defaults; null removes keys in new tables, too.';
  },
});
