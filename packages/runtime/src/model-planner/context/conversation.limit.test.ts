import type { ModelFacts } from '@holdpoint/models';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CountingModel, countingModel } from '../../testing/counting-model.ts';
import { plannedRun } from '../../testing/planned-run.ts';

const ran = { status: 'succeeded' } as const;

type Answered = ReturnType<Parameters<typeof countingModel>[0]['answer']>;

type Settled = ReturnType<Parameters<typeof plannedRun>[0]['settle']>;

interface Told {
  /** What must be in every later request. */
  facts: string[];
}

/** A model that runs commands with long output, asks, keeps todos and is rejected now and then; everybody has facts to say. */
function longRun({
  turns,
  kilobytes,
  behaviour,
  facts = { source: 'unknown' },
}: {
  turns: number;
  kilobytes: number;
  behaviour: Partial<Parameters<typeof countingModel>[0]>;
  facts?: ModelFacts;
}) {
  const told: Told = { facts: [] };
  const fact = (turn: number, kind: string) => {
    const text = `fact-${kind}-${turn} "quoted" ${'\\'} é`;
    told.facts.push(JSON.stringify(`fact-${kind}-${turn}`).slice(1, -1));
    return text;
  };
  const model: CountingModel = countingModel({
    ...{ window: 20_000 },
    answer: (): Answered => {
      const turn = (run.log.turns.at(-1)?.turn ?? 0) + 1;
      const id = `call_${turn}`;
      if (turn > turns) return { text: 'done', calls: [] };
      if (turn % 9 === 0) return { text: '', calls: [{ id, tool: 'ask_user', args: { question: `q${turn}` } }] };
      if (turn % 7 === 0) {
        const todos = [{ content: `todo-${turn}`, status: 'pending' }];
        return { text: '', calls: [{ id, tool: 'todo_write', args: { todos } }] };
      }
      const path = `src/file-${turn}.ts`;
      return {
        text: `Turn ${turn}.`,
        calls: [
          { id, tool: 'bash', args: { command: `make ${turn}` } },
          { id: `${id}b`, tool: 'read_file', args: { path } },
        ],
      };
    },
    ...behaviour,
  });
  const run = plannedRun({
    ...{ model, facts },
    prompt: 'the-task-itself',
    files: { 'AGENTS.md': 'fact-of-the-repository', 'lib/CLAUDE.md': 'fact-of-lib' },
    says: (turn) => (turn % 11 === 0 ? [fact(turn, 'message')] : []),
    settle: ({ tool }, turn): Settled => {
      if (tool === 'ask_user') return { ...ran, native: { answer: fact(turn, 'answer') } };
      if (tool === 'bash' && turn % 13 === 0) {
        const error = {
          code: 'EREJECTED',
          message: `Not run: a person rejected this call. They say: ${fact(turn, 'no')}`,
        };
        return { status: 'rejected', error, native: { status: 'rejected', error } };
      }
      if (tool === 'bash' && turn % 17 === 0) {
        const decided = [
          { decision: 'edit' as const, args: { command: 'x' }, message: fact(turn, 'edit'), isIndeterminate: false },
        ];
        return { ...ran, native: { stdout: 'o' }, decided };
      }
      const stdout = `line ${turn} "of output"\n`.repeat(Math.ceil((kilobytes * 1024) / 22));
      return { ...ran, native: tool === 'bash' ? { exit_code: 0, stdout } : { text: 'small' } };
    },
  });
  return { run, model, told };
}

function expectWhole({ run, model, told }: ReturnType<typeof longRun>): void {
  const last = model.requests.at(-1) ?? '';
  const lists = run.log.turns.flatMap(({ turn, steps }) =>
    steps.some(({ tool }) => tool === 'todo_write') ? [turn] : [],
  );
  const latest = lists.at(-1);
  const facts = ['the-task-itself', 'fact-of-the-repository', 'fact-of-lib', ...told.facts];
  expect(facts.filter((fact) => !last.includes(fact))).toEqual([]);
  if (latest !== undefined) expect(last).toContain(`todo-${latest}`);
  for (const request of model.requests) expectPaired(request);
  // A request begins with the one before, as far as nothing was shortened between them: what a provider has cached stays good.
  const bodies = model.requests.map((request) => request.slice(0, request.indexOf('],"tools":')));
  const changed = bodies.filter((body, at) => !body.startsWith(bodies[at - 1] ?? ''));
  expect(changed.length).toBeLessThanOrEqual(run.log.compactions.length);
}

/** Each call has its result in the next message, and each result its call. */
function expectPaired(request: string): void {
  const { messages } = JSON.parse(request) as {
    messages: { role: string; answer?: { calls: { id: string }[] }; results?: { id: string }[] }[];
  };
  for (const [at, { role, answer, results }] of messages.entries()) {
    if (role === 'tool')
      expect(messages[at - 1]?.answer?.calls.map(({ id }) => id)).toEqual(results?.map(({ id }) => id));
    if (role === 'assistant' && answer?.calls.length) expect(messages[at + 1]?.role).toBe('tool');
  }
}

test('sixty turns of long output end, with everything that people said in the last request', async () => {
  const long = longRun({ turns: 60, kilobytes: 16, behaviour: { window: 20_000, tells: true } });
  expect(await long.run.run(100)).toBe('done');
  expect(long.run.log.turns.length).toBe(61);
  expect(long.told.facts.length).toBeGreaterThanOrEqual(17);
  expectWhole(long);
  // The window is learned from one refusal.
  expect(long.model.refused).toBe(1);
  expect(long.model.summaries.length).toBeGreaterThan(0);
  const compacted = long.run.log.compactions;
  expect(compacted.length).toBeLessThan(45);
  for (const one of compacted) expect(one.tokens_after).toBeLessThan(one.tokens_before);
});

test.each(['empty', 'cut', 'refused'] as const)(
  'summaries that are %s are replaced twice; the third pauses the run',
  async (summary) => {
    const behaviour: { window: number; summary: 'text' | typeof summary } = { window: 16_000, summary };
    const long = longRun({ turns: 60, kilobytes: 8, behaviour });
    const failing = { code: 'summaries_failed', retryable: false, next: expect.stringContaining('Resume') };
    await expect(long.run.run(100)).rejects.toMatchObject(failing);
    const summaries = () => long.run.log.compactions.filter(({ how }) => how === 'summarised');
    expect(summaries().map(({ failed }) => failed !== undefined)).toEqual([true, true]);
    // No compaction has the tokens of the third. A refused request used none.
    const counted = { model: 'test/model', why: 'summary_failed', estimated: [] };
    expect(long.run.used).toMatchObject(summary === 'refused' ? [] : [counted]);
    // A person resumes the run: one more try, and another pause.
    await expect(long.run.run(100)).rejects.toMatchObject(failing);
    long.model.behave?.({ summary: 'text' });
    expect(await long.run.run(100)).toBe('done');
    expect(
      summaries()
        .slice(2)
        .every(({ failed }) => failed === undefined),
    ).toBe(true);
    expectWhole(long);
  },
);

test('a summary is made from whole results, and its request begins like that of the turn before', async () => {
  const facts: ModelFacts = { window: 60_000, maxOutput: 4000, source: 'table' };
  const long = longRun({ turns: 40, kilobytes: 12, behaviour: { window: 60_000 }, facts });
  expect(await long.run.run(100)).toBe('done');
  expect(long.model.summaries.length).toBeGreaterThan(0);
  expect(long.model.streamedSummaries).toBe(long.model.summaries.length);
  expectWhole(long);
  for (const request of long.model.summaries) {
    const { messages, tools, system } = JSON.parse(request);
    const before = JSON.parse(long.model.requests[0] ?? '');
    expect([tools, system, messages[0]]).toEqual([before.tools, before.system, before.messages[0]]);
    const results = messages.flatMap((one: { results?: { text: string }[] }) => one.results ?? []);
    expect(results.some(({ text }: { text: string }) => text.length > 11_000)).toBe(true);
    expectPaired(request);
  }
});

test('any history in any window: it ends, what must be kept is kept, and two processes build the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        turns: fc.integer({ min: 1, max: 40 }),
        kilobytes: fc.integer({ min: 0, max: 40 }),
        window: fc.integer({ min: 14_000, max: 60_000 }),
        tells: fc.boolean(),
        counts: fc.boolean(),
        isKnown: fc.boolean(),
      }),
      async ({ turns, kilobytes, window, tells, counts, isKnown }) => {
        const facts: ModelFacts = isKnown ? { window, maxOutput: 4000, source: 'table' } : { source: 'unknown' };
        const long = longRun({ turns, kilobytes, behaviour: { window, tells, counts }, facts });
        expect(await long.run.run(turns + 1)).toBe('done');
        expectWhole(long);
        const last = long.model.requests.at(-1);
        await long.run.planLastAgain();
        expect(long.model.requests.at(-1)).toBe(last);
      },
    ),
    { numRuns: 12 },
  );
});

test('a known window is never passed', async () => {
  const facts: ModelFacts = { window: 30_000, maxOutput: 4000, source: 'table' };
  const long = longRun({ turns: 30, kilobytes: 16, behaviour: { window: 30_000 }, facts });
  expect(await long.run.run(100)).toBe('done');
  expect(long.model.refused).toBe(0);
  expectWhole(long);
});

test('a window too small for the task alone pauses with what to do', async () => {
  const long = longRun({ turns: 3, kilobytes: 1, behaviour: { window: 2000, tells: true } });
  const message = expect.stringMatching(/tools \(about \d+ tokens\), the instructions \(\d+\)/);
  const full = { code: 'context_full', retryable: false, next: expect.any(String), message };
  await expect(long.run.run(4)).rejects.toMatchObject(full);
});

test('a warning stands behind the results, and stays there in every later request', async () => {
  const answer = (): Answered => ({
    text: '',
    calls: [{ id: `call_${run.log.turns.length}`, tool: 'glob', args: { pattern: '*' } }],
  });
  const model = countingModel({ window: 100_000, answer });
  const run = plannedRun({
    model,
    settle: () => ({ ...ran, native: { paths: [], total: 0 } }),
    says: (turn) => (turn === 3 ? ['Look again.'] : []),
    warns: (turn) => (turn === 3 ? 'You repeat yourself.' : undefined),
  });
  await run.run(5);
  const messages = model.requests.map(
    (request) => (JSON.parse(request) as { messages: { role: string; text?: string }[] }).messages,
  );
  expect(messages[2]?.slice(-3)).toMatchObject([
    { role: 'tool' },
    { text: 'Look again.' },
    { text: 'You repeat yourself.' },
  ]);
  for (const [at, one] of messages.slice(1).entries()) expect(one.slice(0, messages[at]?.length)).toEqual(messages[at]);
  expect(messages.at(-1)?.filter(({ text }) => text === 'You repeat yourself.')).toHaveLength(1);
});
