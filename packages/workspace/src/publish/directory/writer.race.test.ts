import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import type { PublishResult } from '../../port/workspaces.ts';
import { readTree, writeTree } from '../../testing/file-tree.ts';
import { test } from '../../testing/fixture.ts';
import { publishNow, runId, runUntilKilled, stride, type Temporary, temporary, tried } from '../../testing/index.ts';
import { type AsideRole, privateName } from './private-name.ts';

const before = { 'changed.txt': 'old\n', 'gone.txt': 'old\n', 'folder/gone.txt': 'old\n', 'same.txt': 'same\n' };
const script = fileURLToPath(new URL('../../testing/racing-writer.ts', import.meta.url));
const rounds = process.env.HOLDPOINT_CRASH === 'full' ? 480 : 45;

async function start(t: Temporary) {
  const source = t.source(before);
  const { base, path: tree } = await t.begin(source);
  rmSync(join(tree, 'gone.txt'));
  rmSync(join(tree, 'folder'), { recursive: true });
  writeTree(tree, { 'changed.txt': 'of the run\n', 'made.txt': 'of the run\n' });
  const { id: snapshot } = await t.snapshot(base.id);
  const reset = () => {
    rmSync(source, { recursive: true });
    writeTree(source, before);
    rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true, force: true });
  };
  return { source, snapshot, reset };
}

test('a program that writes during the replacement loses nothing', { timeout: 120_000 }, async () => {
  using t = temporary();
  const { source, snapshot, reset } = await start(t);
  const journal = join(t.dataDir, 'runs', runId, 'publish/journal.json');
  const writer = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(writer.stdout)[Symbol.asyncIterator]();
  const lost: string[] = [];
  const seen = { published: 0, conflict: 0 };
  const files = ['changed.txt', 'changed.txt', 'gone.txt', 'folder/gone.txt', 'made.txt'];
  for (let round = 0; round < rounds; round++) {
    reset();
    const name = files[round % files.length] ?? '';
    const how = (['append', 'replace', 'hold'] as const)[Math.floor(round / files.length) % 3] ?? 'append';
    const isWritten = before[name as keyof typeof before] === undefined || name === 'changed.txt';
    const trigger = isWritten ? join(source, privateName(runId, name, 'tmp')) : journal;
    const text = `edit ${round}.\n`;
    const afterUs = (round * 37) % 1500;
    writer.stdin.write(`${JSON.stringify({ file: join(source, name), trigger, afterUs, how, text })}\n`);
    await answers.next();
    const result = await t.publish({ snapshot, message: 'x' });
    await answers.next();
    seen[result.status === 'published' ? 'published' : 'conflict'] += 1;
    if (!isFound({ source, name, text, result })) lost.push(`${how} ${name} ${result.status}`);
  }
  writer.stdin.end();
  await once(writer, 'exit');
  expect(lost).toEqual([]);
  // Both outcomes occurred, so the writer was sometimes before and sometimes after the replacement.
  expect(Math.min(seen.published, seen.conflict)).toBeGreaterThan(0);
});

describe('a file that another program has open', () => {
  test('for writing gets its name back, and the program continues to write', async ({ t }) => {
    const { source, snapshot } = await start(t);
    const fd = openSync(join(source, 'changed.txt'), 'a');
    try {
      const result = await t.publish({ snapshot });
      expect(result).toMatchObject({ status: 'conflict', conflicts: [{ path: 'changed.txt' }] });
      writeSync(fd, 'much later\n');
    } finally {
      closeSync(fd);
    }
    expect(readTree(source)).toEqual({
      ...{ 'changed.txt': 'file old\nmuch later\n', 'gone.txt': 'file old\n', 'same.txt': 'file same\n' },
      ...{ folder: 'folder', 'folder/gone.txt': 'file old\n' },
    });
  });

  test('only for reading does not delay the publish', async ({ t }) => {
    const { source, snapshot } = await start(t);
    const fd = openSync(join(source, 'changed.txt'), 'r');
    const result = await t.publish({ snapshot });
    closeSync(fd);
    expect(result).toMatchObject({ status: 'published' });
  });

  test('for writing loses nothing when the publish is killed at any point', { timeout: 300_000 }, async () => {
    using t = temporary();
    const { source, snapshot, reset } = await start(t);
    const act = { verb: 'publish', snapshot };
    const files = ['changed.txt', 'gone.txt', 'folder/gone.txt'];
    let killed = 0;
    for (let dieAt = 1, isKilled = true; isKilled; dieAt += stride) {
      reset();
      const held = files.map((name) => openSync(join(source, name), 'a'));
      isKilled = runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act });
      if (isKilled) killed += 1;
      for (const fd of held) writeSync(fd, `edit ${dieAt}.\n`);
      for (const fd of held) closeSync(fd);
      const result = await t.publish({ snapshot });
      expect(result.status).toBe('conflict');
      for (const name of files) {
        expect(isFound({ source, name, text: `edit ${dieAt}.\n`, result }), `${dieAt} ${name}`).toBe(true);
      }
    }
    expect(killed).toBeGreaterThanOrEqual(tried(15));
  });
});

test('a file created while the name is absent stays; the old file is kept beside', async ({ t }) => {
  const { source, snapshot } = await start(t);
  const editor = t.reopen({
    onPoint: (point) => {
      if (point === 'publish.taken-away') writeFileSync(join(source, 'changed.txt'), 'theirs\n', { flag: 'a' });
    },
  });
  const result = await publishNow(editor, { runId, snapshot });
  const kept = namesBelow(source).find((name) => name.startsWith('changed.txt.holdpoint-')) ?? '';
  expect(readTree(source)).toEqual({
    ...{ 'changed.txt': 'file theirs\n', [kept]: 'file old\n', 'gone.txt': 'file old\n' },
    ...{ folder: 'folder', 'folder/gone.txt': 'file old\n', 'same.txt': 'file same\n' },
  });
  expect(result).toMatchObject({ conflicts: [{ path: 'changed.txt', detail: expect.stringContaining(kept) }] });
});

test('a rollback keeps an edit of a file that was just published', async ({ t }) => {
  const { source, snapshot } = await start(t);
  let count = 0;
  const editor = t.reopen({
    onPoint: (point) => {
      // A change of one file causes the rollback. Then, at the last moment, a new file is edited.
      if (point === 'publish.brought' && count++ === 0) appendFileSync(asideOf(source, 'changed.txt'), 'theirs\n');
      if (point === 'publish.taken-back') appendFileSync(asideOf(source, 'made.txt', 'new'), 'theirs, too\n');
    },
  });
  const result = await publishNow(editor, { runId, snapshot });
  expect(result).toMatchObject({ conflicts: [{ path: 'changed.txt' }, { path: 'made.txt' }] });
  expect(readTree(source)).toMatchObject({
    'changed.txt': 'file old\ntheirs\n',
    'made.txt': 'file of the run\ntheirs, too\n',
  });
});

const asideOf = (source: string, name: string, role: AsideRole = 'old') => join(source, privateName(runId, name, role));

/** Whether a text is in the file, or in a file kept beside it and named by a conflict. No other file of a publish may be left. */
function isFound(at: { source: string; name: string; text: string; result: PublishResult }): boolean {
  const { source, name, text, result } = at;
  const details = result.status === 'conflict' ? result.conflicts.map(({ detail }) => detail).join('\n') : '';
  const beside = namesBelow(source).filter((one) => one.includes('.txt.holdpoint-'));
  expect(
    beside.filter((one) => !details.includes(one)),
    'kept files are named',
  ).toEqual([]);
  expect(namesBelow(source).filter((one) => one.includes('.holdpoint-') && !beside.includes(one))).toEqual([]);
  const holders = [name, ...beside].map((one) => join(source, one)).filter(existsSync);
  return holders.some((one) => readFileSync(one, 'utf8').includes(text));
}

function namesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' });
}
