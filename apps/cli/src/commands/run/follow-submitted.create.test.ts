import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemForTests } from '../../testing/system.ts';

const { root, holdpoint } = systemForTests();

function planFile(name: string, step: object): string {
  mkdirSync(root, { recursive: true });
  const file = join(root, name);
  writeFileSync(file, JSON.stringify({ groups: [{ steps: [step] }] }));
  return file;
}

const quick = () => planFile('quick.json', { tool: 'write_file', args: { path: 'a.txt', content: 'a' } });
const failing = () => planFile('failing.json', { tool: 'read_file', args: { path: 'missing.txt' } });
const slow = () => planFile('slow.json', { tool: 'bash', args: { command: 'sleep 100' } });

const runIds = async (): Promise<string[]> =>
  JSON.parse((await holdpoint('runs', 'list', '--json')).stdout).data.map(({ id }: { id: string }) => id);

it('without a terminal returns at once, unless an option promises the exit code of the run', async () => {
  const detached = await holdpoint('run', '--plan', slow());
  expect(detached).toMatchObject({ code: 0, stdout: expect.stringMatching(/^run_\S+\n$/) });
  expect((await holdpoint('run', '--plan', slow(), '--timeout', '1')).code).toBe(6);
  expect((await holdpoint('run', '--plan', slow(), '--hold', 'bash', '--no-wait')).code).toBe(5);
  expect((await holdpoint('run', '--plan', failing(), '--no-wait', '--json')).code).toBe(1);
  expect(await holdpoint('run', '--plan', quick(), '--wait', '--timeout', '60')).toMatchObject({ code: 0 });
});

it.each([['--timeout', '5'], ['--wait'], ['--no-wait']])(
  'refuses --detach with %s before it submits',
  async (...option) => {
    const before = await runIds();
    expect(await holdpoint('run', '--plan', quick(), '--detach', ...option)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("cannot be used with option '--detach'"),
    });
    expect(await runIds()).toEqual(before);
  },
);
