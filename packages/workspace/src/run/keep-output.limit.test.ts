import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import type { Temporary } from '../testing/index.ts';

const runId = 'run_1';

async function start(t: Temporary) {
  const source = t.source({ 'a.txt': 'a\n' }, 'directory');
  const base = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  const { path, outputs } = await t.workspaces.locate({ runId, epoch: 1 });
  const keep = (text: string, label = 'bash', id = runId) => t.workspaces.keepOutput({ runId: id, label, text });
  return { base, path, outputs, keep };
}

test('an output has the digest in its name, and a repeated call the same file; no snapshot has it', async ({ t }) => {
  const { base, outputs, keep } = await start(t);
  const { name } = await keep('printed\n');
  expect(name).toMatch(/^bash-[0-9a-f]{12}\.txt$/);
  expect(readFileSync(join(outputs, name), 'utf8')).toBe('printed\n');
  expect(statSync(join(outputs, name)).mode & 0o777).toBe(0o444);
  expect(statSync(outputs).mode & 0o777).toBe(0o750);
  expect(await t.reopen().keepOutput({ runId, label: 'bash', text: 'printed\n' })).toEqual({ name });
  expect(readdirSync(outputs)).toEqual([name]);
  const next = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'nothing' });
  expect(next).toMatchObject({ id: base.id, files_changed: 0 });
});

test('a label of a stranger names no other folder', async ({ t }) => {
  const { outputs, keep } = await start(t);
  const { name } = await keep('x', '../../../etc/pass\nwd');
  expect(name).toMatch(/^_+etc_pass_wd-[0-9a-f]{12}\.txt$/);
  expect(readdirSync(outputs)).toEqual([name]);
});

test('a damaged file, and a link in the place of a file or of the folder, are replaced', async ({ t }) => {
  const { outputs, keep } = await start(t);
  const { name } = await keep('printed\n');
  const file = join(outputs, name);
  for (const damage of ['pri', 'qrinted\n']) {
    rmSync(file);
    writeFileSync(file, damage);
    await keep('printed\n');
    expect(readFileSync(file, 'utf8')).toBe('printed\n');
  }
  const elsewhere = t.source({ 'kept.txt': 'kept' }, 'directory');
  rmSync(file);
  symlinkSync(join(elsewhere, 'kept.txt'), file);
  await keep('printed\n');
  expect([lstatSync(file).isFile(), readFileSync(join(elsewhere, 'kept.txt'), 'utf8')]).toEqual([true, 'kept']);
  rmSync(outputs, { recursive: true });
  symlinkSync(elsewhere, outputs);
  await keep('printed\n');
  expect([lstatSync(outputs).isDirectory(), readdirSync(elsewhere).sort()]).toEqual([true, ['a.txt', 'kept.txt']]);
});

test('the oldest outputs make place: at most 64 MiB, and none for longer than a week', async ({ t }) => {
  const { outputs, keep } = await start(t);
  const large = (at: number) => String(at).repeat(15 * 1024 * 1024);
  const names: string[] = [];
  for (const at of [1, 2, 3, 4]) {
    const { name } = await keep(large(at));
    names.push(name);
    const written = Date.now() / 1000 - 100 + at;
    utimesSync(join(outputs, name), written, written);
  }
  names.push((await keep(large(5))).name);
  expect(readdirSync(outputs).sort()).toEqual(names.slice(1).sort());
  const later = t.reopen({ now: () => Date.now() + 8 * 24 * 3_600_000 });
  const { name } = await later.keepOutput({ runId, label: 'bash', text: 'new' });
  expect(readdirSync(outputs)).toEqual([name]);
});

test('a fork has the outputs of the other run, keeps them after its discard, and has its own; a dropped tree has none', async ({
  t,
}) => {
  const { base, outputs, keep } = await start(t);
  const { name } = await keep('printed\n');
  await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: base.id } });
  const { outputs: forked } = await t.workspaces.locate({ runId: 'run_2', epoch: 1 });
  const own = await keep('own\n', 'bash', 'run_2');
  expect(readdirSync(outputs)).toEqual([name]);
  await t.workspaces.discard(runId);
  expect(existsSync(outputs)).toBe(false);
  expect(readFileSync(join(forked, name), 'utf8')).toBe('printed\n');
  await t.workspaces.takeOver({ runId: 'run_2', epoch: 2, snapshot: base.id });
  const after = await t.workspaces.locate({ runId: 'run_2', epoch: 2 });
  expect(readdirSync(after.outputs).sort()).toEqual([name, own.name].sort());
  await t.workspaces.dropTree({ runId: 'run_2', epoch: 2 });
  expect(existsSync(forked)).toBe(false);
});
