import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, runId, writeTree } from '../testing/index.ts';

const mebibyte = 1024 * 1024;

/** Writes a file of 70 MiB with different pieces. @returns the digest of its content */
function writeLarge(path: string, seed: number): string {
  const hash = createHash('sha256');
  const file = openSync(path, 'w');
  for (let piece = 0; piece < 70; piece++) {
    const bytes = Buffer.alloc(mebibyte, `${seed}-${piece} `);
    hash.update(bytes);
    writeSync(file, bytes);
  }
  closeSync(file);
  return hash.digest('hex');
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest('hex');
}

test.for(['directory', 'git'] as const)(
  'a large file reaches a %s source, a fork and a restored tree',
  { timeout: 60_000 },
  async (type, { t }) => {
    const source = t.source({ 'a.txt': 'a\n' }, type);
    const { base, path } = await t.begin({ type, path: source });

    const first = writeLarge(join(path, 'big'), 1);
    writeTree(path, { 'a.txt': 'b\n' });
    const kept = await t.snapshot(base.id);
    expect(kept).toMatchObject({ files_changed: 2, skipped: [] });
    const second = writeLarge(join(path, 'big'), 2);
    const final = await t.snapshot(kept.id);

    const { files } = await t.workspaces.diff({ runId, from: base.id, to: final.id });
    expect(files.map((file) => [file.path, file.status, file.binary])).toEqual([
      ['a.txt', 'modified', false],
      ['big', 'added', true],
    ]);
    await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: kept.id } });
    const forked = await t.workspaces.locate({ runId: 'run_2', epoch: 1 });
    expect(await digestOf(join(forked.path, 'big'))).toBe(first);
    await t.workspaces.restore({ runId, epoch: 1, snapshot: kept.id });
    expect(await digestOf(join(path, 'big'))).toBe(first);

    expect(await t.publish({ snapshot: final.id })).toMatchObject({
      status: 'published',
      published: { left_out: [] },
    });
    if (type === 'git') git(source, 'checkout', '-q', `holdpoint/${runId}`);
    expect(await digestOf(join(source, 'big'))).toBe(second);
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe('b\n');
  },
);
