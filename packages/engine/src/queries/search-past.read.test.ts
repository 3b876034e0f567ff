import type { PastFound } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forkRun, requestPause, requestResume, sendMessage, submitRun, undoSteps } from '../commands/index.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { type PastPart, searchPast, textsOf } from './search-past.ts';

const engine = useTestEngine({ fresh: true });

const call = (mark: string) => ({ args: { effect: 'workspace', mark } });

/** A worker whose calls search the past for `words`, and the marks that each of them found. */
function searching(words: readonly string[]) {
  const found: PastFound[] = [];
  const { deps } = inMemoryWorker(engine, {
    async execute({ past }) {
      found.push(await past.search(words, { limit: 20 }));
    },
  });
  const texts = () => found.map(({ hits }) => hits.map(({ turn, kind, text }) => `${turn} ${kind} ${text}`));
  return { deps, texts };
}

test('a call finds the calls before it by their words, the latest first', async () => {
  const { deps, texts } = searching(['NEEDLE', 'count']);
  await submitRun(deps, {
    spec: specOf([[call('needle a')], [call('hay')], [call('a needle')], [call('end')]]),
    by: 'test',
  });
  await deliverAll(deps);
  expect(texts()).toEqual([
    [],
    ['1 call mark: needle a'],
    ['1 call mark: needle a'],
    ['3 call mark: a needle', '1 call mark: needle a'],
  ]);
});

test('an undone call is not found, words of people stay, and a fork has the past of its run', async () => {
  const { deps, texts } = searching(['needle']);
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const spec = specOf([[call('needle a')], [call('needle b')], [{ args: { effect: 'external', mark: 'c' } }]], {
    policy,
  });
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  await sendMessage(deps, runId, { text: 'Mind the needle.', by: 'ada' });
  await requestPause(deps, runId, 'test');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'test' });
  await requestResume(deps, runId, { by: 'test' });
  await deliverAll(deps);
  const { runId: child } = await forkRun(deps, runId, { fromStep: 1, changes: {}, by: 'test' });
  await deliverAll(deps);
  expect(child).not.toBe(runId);
  const [, , again = [], ofChild = []] = texts();
  expect(again).toContain('1 call mark: needle a');
  expect(again.filter((one) => one.includes('Mind the needle.'))).toHaveLength(1);
  expect(again.join()).not.toContain('needle b');
  expect(ofChild).toEqual(['1 call mark: needle a']);
});

const part = (turn: number, ...texts: string[]): PastPart => ({ turn, kind: 'answer', texts: async () => texts });

test('an excerpt has the lines around the first word', async () => {
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n} of a long output`);
  const { hits } = await searchPast([part(1, lines.join('\n'))], { words: ['line 100 '], limit: 1 });
  const shown = hits[0]?.text.split('\n') ?? [];
  expect(shown[0]).toMatch(/^…line 8\d of a long output$/);
  expect(shown.at(-1)).toMatch(/^line 11\d of a long output…$/);
});

test('a search of a very long past says from which turn on it has searched', async () => {
  const long = 'x'.repeat(40 * 1024 * 1024);
  const parts = [part(1, 'needle'), part(2, long), part(3, long), part(4, 'needle')];
  const found = await searchPast(parts, { words: ['needle'], limit: 5 });
  expect(found).toMatchObject({ hits: [{ turn: 4 }], searched_from: 2 });
  expect(await searchPast(parts.slice(0, 1), { words: ['needle'], limit: 5 })).not.toHaveProperty('searched_from');
});

test('it finds exactly the parts that have every word, and each excerpt has one', async () => {
  const word = fc.constantFrom('a', 'bc', 'İ', 'ß', 'Σ', '😀', '\n', '\r\n', '.*', '\\', ' ');
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
  const parts = fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(parts, fc.array(word, { minLength: 1, maxLength: 3 }), async (all, words) => {
      const made = all.map((texts, at) => part(at + 1, ...texts));
      const { hits } = await searchPast(made, { words, limit: 100 });
      const has = (one: string, wanted: string) => one.toLowerCase().includes(wanted.toLowerCase());
      const expected = all.flatMap((texts, at) =>
        words.every((wanted) => texts.some((one) => has(one, wanted))) ? [at + 1] : [],
      );
      expect(hits.map(({ turn }) => turn)).toEqual(expected.toReversed());
      for (const hit of hits) {
        expect(hit.text.isWellFormed()).toBe(true);
        expect(words.some((wanted) => has(hit.text, wanted))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test('texts of a value stand one by one', () => {
  expect(textsOf({ stdout: { text: 'a\nb' }, exit_code: 1, list: [{ path: 'x' }, null], fine: true })).toEqual([
    'a\nb',
    'exit_code: 1',
    'path: x',
    'fine: true',
  ]);
});
