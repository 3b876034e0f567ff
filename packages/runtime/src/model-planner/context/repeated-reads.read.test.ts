import type { Json } from '@holdpoint/contract';
import type { ModelMessage } from '@holdpoint/models';
import { expect, test } from 'vitest';
import { countingModel } from '../../testing/counting-model.ts';
import { plannedRun } from '../../testing/planned-run.ts';

type Settled = ReturnType<Parameters<typeof plannedRun>[0]['settle']>;

const read = (content: string, more: Record<string, Json> = {}): Settled => {
  const lines = content.split('\n').length - 1;
  const about = { start_line: 1, line_count: lines, total_lines: lines, line_endings: 'lf', final_newline: true };
  const native = { path: 'a.ts', content, sha256: `hash of ${content.length}`, ...about, ...more };
  return { status: 'succeeded', native };
};
const code = 'const value = 1;\n'.repeat(40);

const messagesOf = (request = '{}'): ModelMessage[] => (JSON.parse(request) as { messages: ModelMessage[] }).messages;

/** The results that the model read in its last request, by turn. A turn makes one call. */
async function lastResults(turns: readonly Settled[], window = 200_000, tool = 'read_file'): Promise<string[]> {
  const call = (turn: number) => ({ id: `call_${turn}`, tool, args: { path: 'a.ts' } });
  const model = countingModel({
    window,
    answer: () => {
      const turn = (run.log.turns.at(-1)?.turn ?? 0) + 1;
      return turn > turns.length ? { text: 'done', calls: [] } : { text: '', calls: [call(turn)] };
    },
  });
  const run = plannedRun({ model, settle: (_call, turn) => turns[turn - 1] as Settled });
  await run.run(turns.length + 1);
  const messages = messagesOf(model.requests.at(-1));
  return messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ text }) => text) : []));
}

const unchanged =
  'unchanged: these are the lines that you read in turn 1. That result stands above and is still right.';

test('a file that is read again unchanged is not repeated, however often', async () => {
  const results = await lastResults([read(code), read(code), read(code)]);
  expect(results[0]).toContain('40\tconst value = 1;');
  expect(results.slice(1)).toEqual([unchanged, unchanged]);
});

test('a changed file, other lines, another file and a short file are shown', async () => {
  const others = [
    read(code.replace('1', '12')),
    read(code, { start_line: 2 }),
    read(code, { path: 'b.ts' }),
    read('a\n', { path: 'c.ts' }),
    read('a\n', { path: 'c.ts' }),
  ];
  const results = await lastResults([read(code), ...others, read(code)]);
  expect(results.slice(1, -1).join()).not.toContain('unchanged');
  expect(results.at(-1)).toBe(unchanged);
});

test('words of a person, a failure and a long result are shown as they are', async () => {
  const edited = { decision: 'edit' as const, args: { path: 'a.ts' }, message: 'This one.', isIndeterminate: false };
  const results = await lastResults([
    read(code),
    { ...read(code), decided: [edited] },
    { ...read(code), status: 'failed' },
  ]);
  expect(results[1]).toContain('This one.');
  expect(results.join()).not.toContain('unchanged');
});

test('once the first reading was shortened or summarised, the next one stands whole', async () => {
  const filler = Array.from({ length: 40 }, (_, at) => read(`${at} ${'x'.repeat(2000)}\n`, { path: `${at}.ts` }));
  const results = await lastResults([read(code), ...filler, read(code), read(code)], 20_000);
  expect(results.filter((text) => text.includes('40\tconst value = 1;'))).toHaveLength(1);
  expect(results.at(-1)).toMatch(/^unchanged: these are the lines that you read in turn 42\./);
});

test('every request begins with the request before it', async () => {
  const call = (turn: number) => ({ id: `call_${turn}`, tool: 'read_file', args: { path: 'a.ts' } });
  const model = countingModel({
    window: 200_000,
    answer: () => ({ text: '', calls: [call((run.log.turns.at(-1)?.turn ?? 0) + 1)] }),
  });
  const run = plannedRun({ model, settle: (_call, turn) => read(turn % 3 === 0 ? `${code}// ${turn}\n` : code) });
  await run.run(12);
  const texts = model.requests.map((request) => JSON.stringify(messagesOf(request)).slice(0, -1));
  for (const [at, text] of texts.slice(1).entries()) expect(text.startsWith(texts[at] as string)).toBe(true);
});
