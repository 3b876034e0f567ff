import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GraphStore } from '../store/graph-store.ts';
import type { CachePlace } from '../store/open-store.ts';
import type { GivenListing, Outcome } from './messages.ts';
import { RunGraphs } from './run-graphs.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-graph-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let made = 0;
const placeOf = (): CachePlace => ({ path: join(directory, `${++made}`), origin: undefined, maxBytes: 2 ** 26 });
const oidOf = (n: number) => n.toString(16).padStart(40, '0');
const entriesOf = (count: number): GivenListing['entries'] =>
  Array.from({ length: count }, (_, n) => ({ path: `f${n}.ts`, oid: oidOf(n), isLink: false }));
const factOf = (name: string) => ({
  symbols: [
    {
      ...{ name, kind: 'constant', container: [], exported: true },
      ...{ start: { line: 1, column: 1 }, end: { line: 1, column: 2 } },
    },
  ],
  ...{ imports: [], references: [], has_errors: false, cut: false },
});
const lineOf = (n: number) => Buffer.from(JSON.stringify({ language: 'typescript', facts: factOf(`c${n}`) }));

const ask = (graphs: RunGraphs, place: CachePlace, query: string, params = {}): Outcome =>
  graphs.perform(place, {
    ...{ operation: 'ask', timeout_ms: 60_000, permissions: undefined },
    question: { query, params, snapshot: 's', max_bytes: 2 ** 20 },
  });
const list = (graphs: RunGraphs, place: CachePlace, entries: GivenListing['entries'], total = entries.length) =>
  graphs.perform(place, { operation: 'list', snapshot: 's', listing: { since: null, entries }, total });
const keep = (graphs: RunGraphs, place: CachePlace, count: number) =>
  graphs.perform(place, {
    operation: 'keep',
    read: Array.from({ length: count }, (_, n) => ({ oid: oidOf(n), hint: '.ts', bytes: 1, line: lineOf(n) })),
  });

test('a long listing comes in parts, and one without all of them is asked for again', () => {
  const [graphs, place, entries] = [new RunGraphs(), placeOf(), entriesOf(10)];
  const part = (isFirst: boolean, from: number, to: number) =>
    graphs.perform(place, { operation: 'part', isFirst, entries: entries.slice(from, to) });
  expect(list(graphs, place, entries.slice(8), 10)).toEqual({ kind: 'unlisted', known: [] });
  part(true, 0, 3);
  // The thread that had it was ended, or who sent it stopped there.
  expect(list(graphs, place, entries)).toEqual({ kind: 'unlisted', known: [] });
  part(true, 0, 4);
  part(false, 4, 8);
  expect(list(graphs, place, entries.slice(8), 10)).toEqual({ kind: 'done' });
  expect(ask(graphs, place, 'files')).toMatchObject({ kind: 'unread', total: 10 });
  expect(keep(graphs, place, 10)).toEqual({ kind: 'kept', refused: [] });
  expect(ask(graphs, place, 'files', { limit: 10 })).toMatchObject({ kind: 'answer', results: { length: 10 } });
});

test('what another process forgets is missed in no answer', () => {
  const [one, two, place] = [new RunGraphs(), new RunGraphs(), placeOf()];
  for (const graphs of [one, two]) {
    list(graphs, place, entriesOf(3));
    keep(graphs, place, 3);
  }
  const before = ask(one, place, 'symbols');
  expect(before).toMatchObject({ kind: 'answer', results: [{ name: 'c0' }, { name: 'c1' }, { name: 'c2' }] });
  const other = new GraphStore(place);
  other.forgetOthers(new Set([1]));
  other.close();
  expect(ask(one, place, 'symbols')).toMatchObject({ kind: 'unread', blobs: [{ oid: oidOf(1) }, { oid: oidOf(2) }] });
  keep(two, place, 3);
  expect(ask(one, place, 'symbols')).toEqual(before);
  expect(ask(two, place, 'symbols', { name: 'c2' })).toMatchObject({ results: [{ path: 'f2.ts' }] });
});
