import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putScheduleSchema } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { systemForTests } from '../../testing/system.ts';

const { root, holdpoint } = systemForTests();
const file = (text: string): string => {
  const path = join(root, 'nightly.yaml');
  writeFileSync(path, text);
  return path;
};
const nightly = `
cron: '0 3 * * *'
zone: Europe/Berlin
note: "for \\e[31mpeople"
run:
  title: Nightly {{scheduled_for}}
  plan: { groups: [{ steps: [{ tool: write_file, args: { path: a.txt, content: x } }] }] }
`;

test('a schedule of a file is stored, shown, triggered, paused and deleted', async () => {
  const put = await holdpoint('schedules', 'put', 'nightly', file(nightly));
  expect(put).toMatchObject({ code: 0, stderr: expect.stringContaining('is schedule nightly, version 1') });
  expect(put.stdout).toContain('0 3 * * * Europe/Berlin');
  expect(put.stdout).not.toContain('\u001b');
  expect((await holdpoint('schedules', 'list')).stdout).toMatch(/nightly +active +0 3 \* \* \* Europe\/Berlin/);
  await holdpoint('schedules', 'trigger', 'nightly');
  await expect
    .poll(async () => (await holdpoint('schedules', 'history', 'nightly')).stdout, { timeout: 30_000, interval: 500 })
    .toMatch(/triggered +run_\S+ +submitted/);
  const paused = await holdpoint('schedules', 'pause', 'nightly', '--reason', 'holidays');
  expect(paused.stdout).toMatch(/nightly, version 1, paused\npaused +by .*: holidays/);
  expect((await holdpoint('schedules', 'resume', 'nightly')).stdout).toContain('active');
  const stale = await holdpoint('schedules', 'delete', 'nightly', '--if-version', '7');
  expect(stale).toMatchObject({ code: 8, stderr: expect.stringContaining('version 1, not 7') });
  expect((await holdpoint('schedules', 'delete', 'nightly')).stdout).toContain('nightly is deleted');
  expect(await holdpoint('schedules', 'show', 'nightly')).toMatchObject({ code: 7 });
});

test('a mistake in the file is named with its line, and nothing is stored', async () => {
  const path = file(nightly.replace('zone:', 'zon:'));
  const shape = await holdpoint('schedules', 'put', 'nightly', path);
  expect(shape).toMatchObject({ code: 2, stderr: expect.stringContaining(`${path}:3`) });
  const times = await holdpoint('schedules', 'put', 'nightly', file(nightly.replace('0 3 * * *', '* * *')));
  expect(times).toMatchObject({ code: 2, stderr: expect.stringContaining('expected five fields') });
  expect((await holdpoint('schedules', 'list', '--json')).stdout).toContain('"data":[]');
});

test('the files that the help and the guide show are schedules', async () => {
  const help = (await holdpoint('schedules', 'put', '--help')).stdout;
  const guide = readFileSync('docs/schedules.md', 'utf8');
  const shown = [help.split('(docs/schedules.md):')[1], /```yaml\n(.*?)```/s.exec(guide)?.[1]];
  for (const text of shown) expect(putScheduleSchema.safeParse(parse(text ?? '')).error).toBeUndefined();
});
