import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { runId, type Temporary, temporary } from '../testing/index.ts';

const limit = 1000;

/** A run on a directory with `run.sh` and a limit of 1,000 bytes per file. */
async function start(t: Temporary) {
  const source = t.source({ 'run.sh': 'echo SAFE\n', 'dir/inner': 'inner\n' });
  const { id, path } = await t.begin(source);
  return { source, base: id, path, file: join(path, 'run.sh') };
}
const limited = () => temporary({ limits: { fileBytes: limit } });
const take = (t: Temporary, parent: string, epoch = 1) => t.workspaces.snapshot({ runId, epoch, parent, message: 'x' });
const large = (letter: string) => letter.repeat(limit + 1);
const read = async (t: Temporary, snapshot: string, path = 'run.sh') => {
  const { content } = await t.workspaces.read({ runId, snapshot, path });
  return Buffer.concat(await content.toArray()).toString();
};

/** Writes and restores the times, as `touch -r` does. */
function forge(file: string, write: () => void): void {
  const { atime, mtime } = statSync(file);
  write();
  utimesSync(file, atime, mtime);
}

describe('a file that grew above the size limit', () => {
  test('is unknown in diff, file list, content, archive and dry run', async () => {
    using t = limited();
    const { base, file } = await start(t);
    writeFileSync(file, 'echo LATER\n');
    const later = await take(t, base);
    writeFileSync(file, large('E'));
    const { id } = await take(t, later.id);
    expect(id).not.toBe(later.id);
    const unknown = {
      path: 'run.sh',
      reason: 'too_large',
      bytes: limit + 1,
      modified_at: new Date(Number(statSync(file, { bigint: true }).mtimeNs / 1_000_000n)).toISOString(),
    };
    expect(await t.workspaces.unknown({ runId, snapshot: id })).toEqual([unknown]);
    expect(await t.workspaces.unknown({ runId, snapshot: id, since: id })).toEqual([]);
    const diff = await t.workspaces.diff({ runId, from: base, to: id });
    expect(diff.files).toEqual([]);
    expect(diff.left_out).toEqual([{ ...unknown, files: 1 }]);
    expect(String(await t.workspaces.patch({ runId, from: base, to: id }))).toBe('');
    expect((await t.workspaces.files({ runId, snapshot: id })).map(({ path }) => path)).toEqual(['dir/inner']);
    await rejects(read(t, id), 'ECONTENTUNKNOWN', { message: expect.stringContaining('too_large') });
    expect(await read(t, later.id)).toBe('echo LATER\n');
    const archive = await t.workspaces.archive({ runId, snapshot: id, format: 'tar.gz' });
    expect((await archive.toArray()).length).toBeGreaterThan(0);
    await rejects(t.workspaces.archive({ runId, snapshot: id, format: 'zip', paths: ['run.sh'] }), 'EPATHMISSING');
    const plan = await t.workspaces.planPublish({ runId, snapshot: id, target: { message: 'm' } });
    expect(plan).toMatchObject({ files: [], left_out: [{ ...unknown, files: 1 }] });
    expect(await t.workspaces.compare({ runId, from: later.id, to: id, most: 5 })).toEqual({
      changes: [{ path: 'run.sh', change: 'unknown' }],
      total: 1,
    });
  });

  test('makes a new snapshot when its content changes, for any times', async () => {
    using t = limited();
    const { base, file } = await start(t);
    writeFileSync(file, large('E'));
    const first = await take(t, base);
    expect((await take(t, first.id)).id).toBe(first.id);
    forge(file, () => writeFileSync(file, large('F')));
    const second = await take(t, first.id);
    expect(second.id).not.toBe(first.id);
    truncateSync(file, limit + 500);
    const third = await take(t, second.id);
    expect(third.id).not.toBe(second.id);
    // Another file of the same name, size and time.
    forge(file, () => {
      rmSync(file);
      writeFileSync(file, large('G').padEnd(limit + 500, 'G'));
    });
    expect((await take(t, third.id)).id).not.toBe(third.id);
  });

  test('is not replaced by its old content', async () => {
    using t = limited();
    const { base, file } = await start(t);
    writeFileSync(file, large('E'));
    const { id } = await take(t, base);
    await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
    expect(readFileSync(file, 'utf8')).toBe(large('E'));
    await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
    const { path } = await t.workspaces.locate({ runId, epoch: 2 });
    expect(readFileSync(join(path, 'run.sh'), 'utf8')).toBe(large('E'));
    // A move changes the ctime but not the snapshot.
    expect((await take(t, id, 2)).id).toBe(id);
    expect(
      await t.reopen({ limits: { fileBytes: limit } }).inspect({
        ...{ runId, epoch: 2, writer: '', snapshot: id, isShared: false },
      }),
    ).toEqual({ status: 'sound' });
    rmSync(join(path, 'run.sh'));
    await t.workspaces.restore({ runId, epoch: 2, snapshot: id });
    expect(existsSync(join(path, 'run.sh'))).toBe(false);
    await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: id } });
    const forked = await t.workspaces.locate({ runId: 'run_2', epoch: 1 });
    expect(existsSync(join(forked.path, 'run.sh'))).toBe(false);
    expect(await t.workspaces.unknown({ runId: 'run_2', snapshot: id })).toMatchObject([{ path: 'run.sh' }]);
  });

  test('is detected at a path that the copy left out', async () => {
    using t = limited();
    const source = t.source({ 'big.bin': large('A') });
    const { id, path } = await t.begin(source);
    writeFileSync(join(path, 'big.bin'), large('B'));
    const made = await take(t, id);
    expect(made.id).not.toBe(id);
    expect((await t.workspaces.diff({ runId, from: id, to: made.id })).left_out).toMatchObject([{ path: 'big.bin' }]);
    forge(join(path, 'big.bin'), () => writeFileSync(join(path, 'big.bin'), large('C')));
    expect((await take(t, made.id)).id).not.toBe(made.id);
  });
});

test('a change below a folder nested too deep makes a new snapshot', async ({ t }) => {
  const { base, path } = await start(t);
  const deep = join(path, ...Array.from({ length: 205 }, () => 'd'));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, 'run.sh'), 'SAFE');
  const first = await take(t, base);
  expect((await take(t, first.id)).id).toBe(first.id);
  forge(join(deep, 'run.sh'), () => writeFileSync(join(deep, 'run.sh'), 'EVIL'));
  const second = await take(t, first.id);
  expect(second.id).not.toBe(first.id);
  expect((await t.workspaces.diff({ runId, from: base, to: second.id })).left_out).toMatchObject([
    { reason: 'unreadable' },
  ]);
});

test('a file that denies its owner access is read', async ({ t }) => {
  const { base, file } = await start(t);
  writeFileSync(file, 'echo EVIL\n');
  chmodSync(file, 0);
  const { id } = await take(t, base);
  expect(await read(t, id)).toBe('echo EVIL\n');
  expect(statSync(file).mode & 0o777).toBe(0);
  const dir = join(file, '..', 'dir');
  writeFileSync(join(dir, 'inner'), 'changed\n');
  chmodSync(dir, 0);
  const closed = await take(t, id);
  chmodSync(dir, 0o755);
  expect(await read(t, closed.id, 'dir/inner')).toBe('changed\n');
});
