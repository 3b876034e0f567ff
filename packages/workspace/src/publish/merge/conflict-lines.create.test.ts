import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HunkChoice } from '@holdpoint/contract';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createGit } from '../../host-git/git.ts';
import { createObjectWriter, type Leaf, modes } from '../../store/objects/index.ts';
import { applyChoices, mergeByLines, type Versions, versionsDigest, withPieces } from './conflict-lines.ts';
import { isHunk, type MergedPiece } from './split-merge.ts';
import { viewConflict } from './view-conflict.ts';

const root = mkdtempSync(join(tmpdir(), 'holdpoint-conflict-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const gitDir = join(root, 'objects.git');
execFileSync('git', ['init', '-q', '--bare', gitDir]);
const git = createGit({});

interface Texts {
  base: string;
  source: string;
  run: string;
}

/** Stores three versions as a worker does. */
async function stored({ base, source, run }: Texts): Promise<Versions> {
  const writer = createObjectWriter({ gitDir, known: new Set() });
  const leaf = (text: string): Leaf => ({ mode: modes.file, oid: writer.blob(Buffer.from(text, 'latin1')) });
  const versions = { base: leaf(base), source: leaf(source), run: leaf(run) };
  await writer.flush();
  return versions;
}

async function piecesOf(texts: Texts): Promise<readonly MergedPiece[]> {
  const pieces = await withPieces({ git }, { gitDir, versions: await stored(texts) }, (found) => found);
  if (pieces === undefined) throw new TypeError('no lines to merge');
  return pieces;
}

/** What the real git makes of the three versions, as a user would call it. */
function mergedByGit(texts: Texts, ...flags: string[]): string {
  const names = (['source', 'base', 'run'] as const).map((name) => {
    writeFileSync(join(root, name), texts[name], 'latin1');
    return name;
  });
  try {
    return execFileSync('git', ['merge-file', '-p', '-q', ...flags, ...names], { cwd: root, encoding: 'latin1' });
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    if (status > 127) throw error;
    return stdout;
  }
}

/** Resolves git's conflict markers by hand, line by line. */
function byHand(merged: string, choose: (hunk: number) => 'run' | 'source' | 'both'): string {
  let [hunk, at, result] = [0, 'common', ''];
  for (const line of merged.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    if (line.startsWith('<<<<<<< ')) {
      hunk += 1;
      at = 'source';
    } else if (at === 'source' && line.startsWith('=======')) at = 'run';
    else if (at === 'run' && line.startsWith('>>>>>>> ')) at = 'common';
    else if (at === 'common' || choose(hunk) === at || choose(hunk) === 'both') result += line;
  }
  return result;
}

/** One edit of a side: at a line of the base, remove some lines and add others. */
const edit = fc.record({
  at: fc.nat(11),
  remove: fc.nat(3),
  add: fc.array(fc.constantFrom('x', 'y', 'same', '', '}', '=======', '<<<<<<< source', '>>>>>>> run'), {
    maxLength: 3,
  }),
});
const ending = fc.constantFrom('\n', '\r\n');

const threeWay = fc
  .record({
    lines: fc.nat(12),
    endings: fc.record({ base: ending, source: ending, run: ending }),
    isMixed: fc.boolean(),
    noNewline: fc.record({ base: fc.boolean(), source: fc.boolean(), run: fc.boolean() }),
    edits: fc.record({
      source: fc.array(edit, { maxLength: 3 }),
      run: fc.array(edit, { maxLength: 3 }),
    }),
    empty: fc.option(fc.constantFrom('base', 'source', 'run'), { freq: 8 }),
  })
  .map(({ lines, endings, isMixed, noNewline, edits, empty }): Texts => {
    const base = Array.from({ length: lines }, (_, index) => (index % 4 === 3 ? '}' : `line ${index}`));
    const edited = (side: 'source' | 'run') => {
      const result = [...base];
      // An added line of the source is unique, so that it can be found again.
      for (const [number, { at, remove, add }] of edits[side].entries()) {
        result.splice(
          at,
          remove,
          ...add.map((text, index) => (text.length === 1 ? `${text} ${side} ${number}.${index}` : text)),
        );
      }
      return result;
    };
    const textOf = (of: string[], side: keyof Texts) => {
      if (empty === side || of.length === 0) return '';
      const end = isMixed ? endings[side] : endings.base;
      return `${of.join(end)}${noNewline[side] ? '' : end}`;
    };
    return {
      base: textOf(base, 'base'),
      source: textOf(edited('source'), 'source'),
      run: textOf(edited('run'), 'run'),
    };
  });

const takes = ['run', 'source', 'both'] as const;
const choicesFor = (count: number, seed: readonly number[]): HunkChoice[] =>
  Array.from({ length: count }, (_, index) => ({
    hunk: index + 1,
    take: takes[(seed[index % seed.length] ?? 0) % 3] ?? 'run',
  }));

describe('a merge by lines', () => {
  test('is what git makes of each choice, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(threeWay, async (texts) => {
        const pieces = await piecesOf(texts);
        const of = (take: 'run_lines' | 'source_lines') => applyChoices(pieces, { take })?.toString('latin1');
        expect(of('run_lines')).toBe(mergedByGit(texts, '--theirs'));
        expect(of('source_lines')).toBe(mergedByGit(texts, '--ours'));
        const both = choicesFor(pieces.filter(isHunk).length, [2]);
        expect(applyChoices(pieces, { take: 'hunks', hunks: both })?.toString('latin1')).toBe(
          mergedByGit(texts, '--union'),
        );
      }),
      { numRuns: 120, seed: 7 },
    );
  }, 120_000);

  test('is what a person makes of the markers by hand, for any mixture of choices, and keeps every edit of the source', async () => {
    const seeds = fc.array(fc.nat(2), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(threeWay, seeds, async (texts, seed) => {
        fc.pre(Object.values(texts).every((text) => !/^[<=>]{7}/m.test(text) && (text === '' || text.endsWith('\n'))));
        const pieces = await piecesOf(texts);
        const hunks = pieces.filter(isHunk);
        const choices = choicesFor(hunks.length, seed);
        const result = applyChoices(pieces, { take: 'hunks', hunks: choices })?.toString('latin1') ?? '';
        expect(result).toBe(byHand(mergedByGit(texts), (hunk) => choices[hunk - 1]?.take as 'run'));
        const inHunks = hunks.map(({ source }) => source.toString('latin1')).join('');
        const edits = texts.source.split('\n').filter((line) => line.includes(' source ') && !inHunks.includes(line));
        for (const line of edits) expect(result.split('\n')).toContain(line);
      }),
      { numRuns: 120, seed: 11 },
    );
  }, 120_000);

  test('is refused for other versions, a missing choice, an unknown hunk and two choices for one', async () => {
    const versions = await stored({ base: '1\n2\n3\n', source: 's\n2\n3\n', run: 'r\n2\n3\n' });
    const digest = versionsDigest(versions);
    const merge = (more: object) => {
      const resolution = { path: 'a', seen: null, digest, take: 'hunks', hunks: [], ...more } as never;
      return mergeByLines({ git }, { gitDir, versions, resolution });
    };
    const first = { hunk: 1, take: 'run' } as const;
    expect(String(await merge({ hunks: [first] }))).toBe('r\n2\n3\n');
    expect(await merge({ hunks: [first], digest: `${digest}0` })).toBeUndefined();
    expect(await merge({})).toBeUndefined();
    expect(await merge({ hunks: [first, { ...first, hunk: 2 }] })).toBeUndefined();
    expect(await merge({ hunks: [first, { ...first, take: 'source' }] })).toBeUndefined();
    expect(await merge({ take: 'run_lines', hunks: [{ hunk: 7, take: 'run' }] })).toBeUndefined();
  });

  test('ends an edited text where other lines follow, as the file ends its lines', async () => {
    const pieces = await piecesOf({ base: 'a\r\nb\r\nc\r\n', source: 's\r\nb\r\nc\r\n', run: 'r\r\nb\r\nc\r\n' });
    const edited = (text: string) =>
      String(applyChoices(pieces, { take: 'hunks', hunks: [{ hunk: 1, take: 'text', text }] }));
    expect(edited('mine')).toBe('mine\r\nb\r\nc\r\n');
    expect(edited('mine\n')).toBe('mine\nb\r\nc\r\n');
    expect(edited('')).toBe('b\r\nc\r\n');
  });
});

const wholePage = { from: 1, limit: 100 };

describe('a conflict, shown by lines', () => {
  test('has every hunk with its context at any size, in pages', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index} ${'.'.repeat(40)}`);
    const with_ = (side: string) =>
      `${lines.map((line, index) => (index % 200 === 100 ? `${side} ${index}` : line)).join('\n')}\n`;
    const texts = { base: `${lines.join('\n')}\n`, source: with_('source'), run: with_('run') };
    expect(texts.base.length).toBeGreaterThan(1024 * 1024);
    const versions = await stored(texts);
    const seen: number[] = [];
    for (let from: number | null = 1; from !== null; ) {
      const page = await viewConflict({ git }, { gitDir, versions, page: { from, limit: 90 } });
      expect(page.hunks).toBe(200);
      expect(page.data.length).toBeLessThanOrEqual(90);
      for (const { hunk, line, source, run, before, after } of page.data) {
        seen.push(hunk);
        const index = line - 1;
        expect([source.text, run.text, source.cut]).toEqual([`source ${index}\n`, `run ${index}\n`, false]);
        expect(before).toBe(`${lines.slice(index - 3, index).join('\n')}\n`);
        expect(after).toBe(`${lines.slice(index + 1, index + 4).join('\n')}\n`);
      }
      from = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  test('says which edits of the other side a whole file reverts, and none that the hunks show', async () => {
    const base = Array.from({ length: 30 }, (_, index) => `${index}`);
    const with_ = (changed: Record<number, string>) =>
      `${base.map((line, index) => changed[index] ?? line).join('\n')}\n`;
    const texts = {
      base: with_({}),
      source: with_({ 5: 'both, source', 20: 'theirs' }),
      run: with_({ 5: 'both, run', 12: 'ours' }),
    };
    const { reverts, hunks } = await viewConflict({ git }, { gitDir, versions: await stored(texts), page: wholePage });
    expect(hunks).toBe(1);
    expect(reverts.run).toMatchObject({ additions: 1, deletions: 1, omitted: false });
    expect(reverts.run?.hunks[0]?.lines).toEqual([' 19', '-theirs', '+20', ' 21']);
    expect(reverts.source?.hunks[0]?.lines).toEqual([' 11', '-ours', '+12', ' 13']);
  });

  test('of a deleted file says what the deletion reverts; a binary file and a link have no lines', async () => {
    const versions = await stored({ base: 'a\nb\n', source: 'a\nb\nmore\n', run: '\0' });
    const gone = await viewConflict({ git }, { gitDir, versions: { ...versions, run: null }, page: wholePage });
    expect(gone).toMatchObject({
      hunks: 0,
      reverts: { run: { deletions: 1, additions: 0 }, source: { deletions: 0 } },
    });
    const binary = await viewConflict({ git }, { gitDir, versions, page: wholePage });
    expect(binary).toMatchObject({ hunks: 0, data: [], reverts: { run: null, source: null } });
    const link = { ...versions, run: versions.source && { ...versions.source, mode: modes.symlink } };
    expect(await viewConflict({ git }, { gitDir, versions: link, page: wholePage })).toMatchObject({
      reverts: { run: null },
    });
  });

  test('cuts a side of many megabytes, with its whole size', async () => {
    const side = (word: string) => `${word.repeat(100)}\n`.repeat(60_000);
    const texts = { base: '', source: side('s'), run: side('r') };
    const { data } = await viewConflict({ git }, { gitDir, versions: await stored(texts), page: wholePage });
    expect(data[0]?.source).toMatchObject({ lines: 60_000, bytes: 6_060_000, cut: true });
  });
});
