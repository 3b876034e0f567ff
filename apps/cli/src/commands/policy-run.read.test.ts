import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemForTests } from '../testing/system.ts';

const { root, holdpoint } = systemForTests();
const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};

test('policy test judges every call of a run', async () => {
  const plan =
    'groups: [{ steps: [{ tool: write_file, args: { path: a.txt, content: a } }, { tool: bash, args: { command: ls } }] }]';
  const { stdout } = await holdpoint('run', '--plan', file('plan.yaml', plan), '--follow', '--json');
  const [first = ''] = stdout.split('\n');
  const policy = file('policy.yaml', 'rules: [{ match: { paths: ["*.txt"] }, action: deny, reason: no texts }]');
  const judged = await holdpoint('policy', 'test', policy, '--run', JSON.parse(first).run_id);
  expect(judged.stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^step_.* write_file \(succeeded\) {2}DENY: no texts$/),
    expect.stringMatching(/^step_.* bash \(succeeded\) {2}ALLOW: /),
  ]);
});
