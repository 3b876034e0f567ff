import { attribute, genAi, general, type TraceSpan } from '@holdpoint/contract';
import { criticalPath, timeSpent } from '@holdpoint/contract/time-spent';
import { expect, test } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { spanRows } from './span-rows.ts';
import { traceText } from './trace-text.ts';

const begin = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number): string => new Date(begin + ms).toISOString();
const runId = 'run_00000000-0000-7000-8000-000000000000';

let ids = 0;
function span(
  kind: TraceSpan['kind'],
  name: string,
  [from, to]: [number, number | null],
  more: Partial<TraceSpan> = {},
): TraceSpan {
  ids += 1;
  return {
    ...{ span_id: ids.toString(16).padStart(16, '0'), parent_id: null, kind, name, start: at(from) },
    ...{ end: to === null ? null : at(to), status: 'ok', attributes: {}, events: [], links: [], ...more },
  };
}
const waitFor = (what: string) => ({ [attribute.waitFor]: what });

/** Asked at once, a read beside a command, a person, a second turn that fails. */
function example(): TraceSpan[] {
  const run = span('run', 'invoke_agent holdpoint', [0, 10_000], { attributes: { [attribute.runOutcome]: 'failed' } });
  const inRun = { parent_id: run.span_id };
  const queued = span('segment', 'segment queued', [0, 1000], inRun);
  const running = span('segment', 'segment running', [1000, 10_000], inRun);
  const inQueued = { parent_id: queued.span_id };
  const inRunning = { parent_id: running.span_id };
  const chat = { [genAi.operation]: 'chat', [genAi.inputTokens]: 120, [genAi.outputTokens]: 30 };
  const read = span('step', 'execute_tool read_file', [3000, 3500], inRunning);
  const step = span('step', 'execute_tool bash', [3000, 9000], {
    ...inRunning,
    status: 'error',
    attributes: { [attribute.stepOutcome]: 'failed', [general.errorType]: 'EEXIT' },
  });
  const inStep = { parent_id: step.span_id };
  return [
    run,
    queued,
    span('wait', 'wait queue', [0, 400], { ...inQueued, attributes: waitFor('queue') }),
    span('workspace', 'workspace materialise', [400, 1000], inQueued),
    running,
    span('turn', 'chat gpt-5', [1000, 3000], { ...inRunning, attributes: chat }),
    read,
    span('attempt', 'attempt', [3100, 3500], { parent_id: read.span_id }),
    step,
    span('wait', 'wait approval', [3000, 7000], {
      ...inStep,
      attributes: { ...waitFor('approval'), [attribute.decision]: 'approve', [attribute.decidedBy]: 'ann' },
    }),
    span('wait', 'wait queue', [7000, 7500], { ...inStep, attributes: waitFor('queue') }),
    span('attempt', 'attempt', [7500, 9000], {
      ...inStep,
      status: 'error',
      attributes: { [attribute.attemptOutcome]: 'failed', [general.exitCode]: 2 },
    }),
    span('turn', 'chat gpt-5', [9000, 9900], { ...inRunning, attributes: chat }),
  ];
}

test('the time of a run is shared out, and adds up to its wall time', () => {
  const { total, spent } = timeSpent(example(), begin + 10_000);
  expect(spent).toEqual({
    ...{ tool: 1900, model: 2900, workspace: 600, task: 0, queue: 900, person: 3600, caller: 0, other: 100 },
  });
  expect(Object.values(spent).reduce((sum, part) => sum + part, 0)).toBe(total);
});

test('an open run has lasted until now', () => {
  const open = [span('run', 'invoke_workflow test', [0, null]), span('segment', 'segment queued', [0, null])];
  expect(timeSpent(open, begin + 5000)).toMatchObject({ total: 5000, spent: { other: 5000 } });
});

test('the critical path has the spans behind the end, with the spans around them', () => {
  const spans = example();
  const path = criticalPath(spans, begin + 10_000);
  expect(spans.filter(({ span_id }) => path.has(span_id)).map(({ name }) => name)).toEqual([
    ...['invoke_agent holdpoint', 'segment queued', 'wait queue', 'workspace materialise', 'segment running'],
    ...['chat gpt-5', 'execute_tool bash', 'wait approval', 'wait queue', 'attempt', 'chat gpt-5'],
  ]);
});

const options = { width: 110, colors: colorsFor(false), now: begin + 10_000, all: false };
const trace = (spans: TraceSpan[]) => ({ run_id: runId, trace_id: 'a'.repeat(32), spans });

test('a trace is a tree with bars', () => {
  expect(`${traceText(trace(example()), options).join('\n')}\n`).toMatchInlineSnapshot(`
    "run_00000000-0000-7000-8000-000000000000  trace aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

    tool             1.9 s  19 %  ████████
    model            2.9 s  29 %  ████████████
    workspace       600 ms   6 %  ██
    queue           900 ms   9 %  ████
    person           3.6 s  36 %  ██████████████
    other           100 ms   1 %
    total           10.0 s

    * invoke_agent holdpoint     ████████████████████████████████████      10.0 s  failed
    *   segment queued           ████                                       1.0 s
    *     wait queue             █                                         400 ms
    *     workspace materialise   ██                                       600 ms
    *   segment running             ████████████████████████████████        9.0 s
    *     chat gpt-5                ███████                                 2.0 s  120 + 30 tokens
          execute_tool read_file           ██                              500 ms
    *     execute_tool bash                ░░░░░░░░░░░░░░░░░█████           6.0 s  failed, EEXIT, waited 4.5 s
    *       wait approval                  ██████████████                   4.0 s  approve, by ann
    *       wait queue                                    ██               500 ms
    *       attempt                                         █████           1.5 s  failed, exit code 2
    *     chat gpt-5                                             ███       900 ms  120 + 30 tokens

    * the end of the run waited for it
    ░ a step that waits
    "
  `);
});

test.each([40, 60, 80, 200])('no line is wider than a terminal of %i columns', (width) => {
  const spans = [...example(), span('step', `execute_tool ${'x'.repeat(90)}\u001b[31m\n`, [1, 2])];
  const lines = traceText(trace(spans), { ...options, width });
  // The first line has the whole ids.
  expect(Math.max(...lines.slice(1).map(({ length }) => length))).toBeLessThanOrEqual(width);
  expect(lines.some((line) => line.includes('\u001b') || line.includes('\n'))).toBe(false);
});

test('10,000 steps are a few lines, and one of them that failed has its own', () => {
  const run = span('run', 'invoke_workflow test', [0, 100_000]);
  const steps = Array.from({ length: 10_000 }, (_, index) => [
    span('step', `execute_tool ${index % 2 ? 'read_file' : 'write_file'}`, [index * 10, index * 10 + 9], {
      parent_id: run.span_id,
      ...(index === 5000 && { status: 'error' as const }),
    }),
  ]).flat();
  const rows = spanRows([run, ...steps], { now: 0, all: false });
  expect(rows).toMatchObject([
    { span: { kind: 'run' } },
    {
      count: 5000,
      names: [
        ['execute_tool write_file', 2500],
        ['execute_tool read_file', 2500],
      ],
      longest: 9,
    },
    { span: { status: 'error' } },
    { count: 4999 },
  ]);
  expect(spanRows([run, ...steps], { now: 0, all: true })).toHaveLength(10_001);
  const lines = traceText(trace([run, ...steps]), { ...options, now: 0 });
  expect(lines.find((line) => line.includes('5000 short spans'))).toContain('execute_tool write_file × 2500');
});

test('short turns are one line with the names of their steps, and a turn with a failed step has its own', () => {
  const run = span('run', 'invoke_workflow test', [0, 100_000]);
  const turns = Array.from({ length: 1000 }, (_, index) => {
    const turn = span('iteration', 'turn', [index * 10, index * 10 + 9], {
      ...{ parent_id: run.span_id, attributes: { [attribute.turn]: index + 1 } },
    });
    const status = index === 500 ? ('error' as const) : ('ok' as const);
    const within = { parent_id: turn.span_id, status };
    return [turn, span('step', 'execute_tool read_file', [index * 10, index * 10 + 8], within)];
  }).flat();
  const lines = traceText(trace([run, ...turns]), { ...options, now: 0 });
  expect(lines.find((line) => line.includes('500 short spans'))).toContain('execute_tool read_file × 500');
  const at = lines.findIndex((line) => line.includes('turn 501'));
  expect(lines[at + 1]).toContain('execute_tool read_file');
  expect(lines.filter((line) => /turn \d/.test(line))).toHaveLength(1);
});

test('of very many lines the first are shown, and how to see the others', () => {
  const spans = Array.from({ length: 1200 }, (_, index) => span('task', 'task shell', [index, index + 2000]));
  expect(traceText(trace(spans), options)).toContain('… 200 more lines: --all');
  expect(traceText(trace(spans), { ...options, all: true }).join('\n')).not.toContain('more lines');
});

test('while a sub-agent waits for a person, its task and the call behind the task count as waiting', () => {
  const task = { [attribute.taskId]: 'task_1' };
  const event = (name: string, ms: number) => ({ name, time: at(ms), attributes: {} });
  const spans = [
    span('run', 'invoke_agent holdpoint', [0, 10_000]),
    span('wait', 'wait task', [1000, 10_000], { attributes: { ...waitFor('task'), ...task } }),
    span('task', 'task agent', [0, 10_000], {
      attributes: task,
      events: [event('sub-agent waits', 2000), event('sub-agent waits', 3000), event('sub-agent continues', 7000)],
    }),
    span('wait', 'wait approval', [2000, 7000], { attributes: waitFor('approval') }),
  ];
  expect(timeSpent(spans, begin + 10_000)).toMatchObject({ total: 10_000, spent: { task: 5000, person: 5000 } });
  const open = spans.map((one) => ({ ...one, end: null, events: one.events.slice(0, 2) }));
  expect(timeSpent(open, begin + 10_000)).toMatchObject({ spent: { task: 2000, person: 8000 } });
});
