import type { Repository } from './repositories.ts';
import { bash, edit, grep, read, type Turn, todos, write } from './session.ts';

type Session = (repository: Repository, turn: Turn) => Promise<void>;

/** Ordinary work, as models do it: with dead ends, commands that fail, and the same tests again and again. */
export const workSessions: Record<string, Session> = {
  async 'repair-a-bug'({ source, test, bug: [right, wrong], probe }, turn) {
    await turn(['list_directory', { path: '.' }], ['glob', { pattern: '**/*' }]);
    await turn(bash(test));
    await turn(read(source, { limit: 80 }));
    await turn(grep('TODO|FIXME'));
    await turn(grep(right.slice(0, 12).replaceAll(/[^\w ]/g, '.')));
    await turn(bash(probe));
    await turn(edit(source, wrong, right));
    await turn(bash(test));
    await turn(bash('git diff --stat; git status --short'));
    await turn(bash(test));
  },

  async 'debug-with-failing-commands'({ source, test, bug: [right, wrong], probe }, turn) {
    await turn(bash('grep -rn "no such words here" .'));
    await turn(bash(probe));
    await turn(bash(`git diff --no-index --stat ${source} /dev/null`));
    await turn(bash('test -f setup.cfg'));
    await turn(bash(test));
    await turn(bash('cat missing.log'));
    await turn(bash('diff <(echo a) <(echo b)'));
    await turn(bash('false || exit 3'));
    await turn(bash(`grep -c "unlikely" ${source}`));
    await turn(edit(source, wrong, right));
    await turn(bash(test));
    await turn(bash('git diff'));
  },

  async 'several-attempts'({ source, test, bug: [right, wrong] }, turn) {
    await turn(bash(test));
    await turn(read(source));
    let now = wrong;
    for (const attempt of ['  # first', '  # second', '  # third', '  # fourth', '  # fifth', '  # sixth']) {
      const then = source.endsWith('.js')
        ? `${wrong}/*${attempt} */`
        : `${wrong.trimEnd()}${wrong.endsWith('\n') ? `${attempt}\n` : ''}`;
      if (then !== now) await turn(edit(source, now, then));
      else await turn(write(`notes${attempt.trim().slice(2)}.txt`, attempt));
      now = then;
      await turn(bash(test));
    }
    await turn(edit(source, now, right));
    await turn(bash(test));
  },

  async 'look-for-files'({ source, test }, turn) {
    for (const path of [
      'src/main',
      'lib/index',
      'README.md',
      'docs/guide.md',
      'CONTRIBUTING.md',
      'setup.py',
      'Makefile',
    ]) {
      await turn(read(path));
    }
    await turn(['glob', { pattern: '**/*.md' }]);
    await turn(['glob', { pattern: '**/*.toml' }]);
    await turn(grep('def main'), grep('module.exports'));
    for (let offset = 1; offset < 90; offset += 15) await turn(read(source, { offset, limit: 15 }));
    await turn(bash(test));
  },

  async 'is-it-flaky'({ test, probe, source, bug: [right, wrong] }, turn) {
    await turn(bash(test));
    await turn(bash(test));
    await turn(bash(`for n in 1 2 3; do ${test} >/dev/null 2>&1; echo "$n: $?"; done`));
    await turn(bash(probe));
    await turn(bash(test));
    await turn(edit(source, wrong, right));
    for (let round = 0; round < 3; round++) await turn(bash(test));
    await turn(bash('git stash -q; git stash pop -q; git status --short'));
    await turn(bash(test));
  },

  async 'add-many-files'({ test, name }, turn) {
    await turn(todos(['Write the examples', 'in_progress'], ['Check them', 'pending']));
    for (let n = 1; n <= 12; n++) await turn(write(`examples/${name}-${n}.txt`, `Example ${n}\n`));
    await turn(bash('ls examples | wc -l'));
    await turn(todos(['Write the examples', 'completed'], ['Check them', 'in_progress']));
    for (let n = 1; n <= 6; n++) await turn(read(`examples/${name}-${n}.txt`));
    await turn(bash(test));
    await turn(todos(['Write the examples', 'completed'], ['Check them', 'completed']));
  },

  async 'test-first'({ source, test, name }, turn) {
    const isPython = source.endsWith('.py');
    const file = isPython ? 'test_more.py' : 'more.test.js';
    const run = isPython ? 'python3 -m unittest test_more' : 'node --test more.test.js';
    const text = (goal: string) =>
      isPython
        ? `import unittest, ${name}\nclass More(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(hasattr(${name}, '${goal}'))\n`
        : `const assert = require('node:assert');\nconst it = require('./index.js');\nassert.ok('${goal}' in it);\n`;
    for (const goal of ['first_more', 'second_more', 'third_more']) {
      await turn(write(file, text(goal)));
      await turn(bash(run));
      await turn(bash(`echo "${isPython ? `${goal} = 1` : `module.exports.${goal} = 1`}" >> ${source}`));
      await turn(bash(run));
      await turn(bash(test));
      await turn(bash('git add -A; git commit -qm more; git log --oneline | wc -l'));
    }
  },

  async 'go-back-in-history'({ source, test, bug: [right, wrong] }, turn) {
    await turn(
      bash(`sed -i '1i ${source.endsWith('.js') ? '//' : '#'} one' ${source}; git commit -qam one; echo done`),
    );
    await turn(bash(test));
    await turn(bash('git checkout -q HEAD~1; git log --oneline | wc -l'));
    await turn(bash(test));
    await turn(bash('git checkout -q -; git log --oneline | wc -l'));
    await turn(bash(test));
    await turn(edit(source, wrong, right));
    await turn(bash(test));
    await turn(bash(`git checkout ${source}`));
    await turn(bash(test));
    await turn(edit(source, wrong, right));
    await turn(bash(test));
    await turn(bash('git diff --stat'));
  },
};
