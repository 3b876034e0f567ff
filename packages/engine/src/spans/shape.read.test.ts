import { attribute, genAi, linkType, type TraceSpan } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun } from '../commands/fork-run.ts';
import { retryRun } from '../commands/retry-run.ts';
import { requestPublication, requestResume } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { startAttempt } from '../domain/index.ts';
import { addEvent, openTrace } from '../events/open-trace.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { append } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { approveFirst, decideOn, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { spansOf } from '../testing/sound-trace.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { spanIdOf, spanKeys, traceIdOf } from './ids.ts';

const engine = useTestEngine();

/** A worker whose clock is the test's. */
function workerAt(faults: Parameters<typeof inMemoryWorker>[1] = {}) {
  // Deadlines are judged by the clock of Redis.
  const clock = { time: Date.now() };
  const worker = inMemoryWorker(engine, faults);
  return { ...worker, deps: { ...worker.deps, now: () => clock.time }, clock };
}

async function submitted(deps: InMemoryWorker['deps'], ...[groups, more]: Parameters<typeof specOf>): Promise<string> {
  const { runId } = await submitRun(deps, { spec: specOf(groups, more), by: 'test' });
  await deliverAll(deps);
  return runId;
}

const spansOfRun = async (deps: InMemoryWorker['deps'], runId: string): Promise<TraceSpan[]> => {
  const { closed, open } = spansOf(await soundLog(deps, runId));
  return [...closed, ...open];
};

const read = { args: { effect: 'read' } };
const write = { args: { effect: 'workspace' } };
const external = { args: { effect: 'external' } };

/** The tree as indented lines: names, and what spans of one name differ in. */
function shape(spans: readonly TraceSpan[]): string {
  const known = new Set(spans.map(({ span_id }) => span_id));
  const lines = (parent: string | null, indent: string): string[] =>
    spans
      .filter(({ parent_id }) => (parent_id !== null && known.has(parent_id) ? parent_id : null) === parent)
      .sort((a, b) => a.start.localeCompare(b.start))
      .flatMap((span) => [`${indent}${lineOf(span)}`, ...lines(span.span_id, `${indent}  `)]);
  return lines(null, '').join('\n');
}

const telling = [
  ...[attribute.runOutcome, attribute.stepOutcome, attribute.attemptOutcome, attribute.taskOutcome],
  ...[attribute.publishOutcome, attribute.decision, attribute.decidedBy, attribute.ruleId],
] as const;

function lineOf({ name, end, attributes, links, events, message }: TraceSpan): string {
  const values = telling.flatMap((key) => attributes[key] ?? []);
  const linked = links.flatMap(({ attributes: of }) => of[attribute.linkType] ?? []);
  const happened = events.map((event) => event.name);
  return [
    ...[name, ...values],
    ...(message === undefined ? [] : [`!${message}`]),
    ...(linked.length === 0 ? [] : [`→ ${linked.join(', ')}`]),
    ...(happened.length === 0 ? [] : [`(${happened.join(', ')})`]),
    ...(end === null ? ['…'] : []),
  ].join(' ');
}

test('a scripted run', async () => {
  const { deps } = workerAt();
  const runId = await submitted(deps, [[write, read], [{ args: { effect: 'read', fail: true } }]]);
  expect(shape(await spansOfRun(deps, runId))).toMatchInlineSnapshot(`
    "invoke_workflow test failed !EASKED
      segment queued
        workspace materialise
      segment running → previous
        turn
          plan
          execute_tool count succeeded
            wait queue
            attempt succeeded
          execute_tool count succeeded
            wait queue
            attempt succeeded
        turn
          plan
          execute_tool count failed !EASKED
            wait queue
            attempt failed !EASKED"
  `);
});

test('a run that is parked for hours has nothing open, and a wait that says who decided', async () => {
  const { deps, clock } = workerAt();
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const runId = await submitted(deps, [[external], [read]], { policy });
  const parked = (await spansOfRun(deps, runId)).filter(({ kind, end }) => kind === 'attempt' && end === null);
  expect(parked).toEqual([]);
  clock.time += 3 * 3_600_000;
  await approveFirst(deps, runId);
  await deliverAll(deps);
  const spans = await spansOfRun(deps, runId);
  expect(shape(spans)).toMatchInlineSnapshot(`
    "invoke_workflow test succeeded (run resumed)
      segment queued
        workspace materialise
      segment running → previous
        turn
          plan
      segment waiting → previous
      execute_tool count succeeded → turn
        wait approval approve ann
        wait queue
        attempt succeeded
      segment running → previous
        turn
          plan
          execute_tool count succeeded
            wait queue
            attempt succeeded"
  `);
  const wait = spans.find(({ name }) => name === 'wait approval');
  expect(Date.parse(wait?.end ?? '') - Date.parse(wait?.start ?? '')).toBe(3 * 3_600_000);
  const run = spans.find(({ kind }) => kind === 'run');
  const segments = spans.filter(({ kind }) => kind === 'segment');
  const total = segments.reduce((sum, { start, end }) => sum + Date.parse(end ?? '') - Date.parse(start), 0);
  expect(total).toBe(Date.parse(run?.end ?? '') - Date.parse(run?.start ?? ''));
});

test('while a step of a turn waits for days, no ended span lies in an open one but the run, and the step knows its turn', async () => {
  const { deps, clock } = workerAt();
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const runId = await submitted(deps, [[read, external]], { policy });
  clock.time += 1000;
  const parked = await spansOfRun(deps, runId);
  const waits = new Set(parked.flatMap(({ span_id, kind, end }) => (end === null && kind !== 'run' ? [span_id] : [])));
  expect(parked.filter(({ end, parent_id }) => end !== null && waits.has(parent_id ?? ''))).toEqual([]);
  await approveFirst(deps, runId);
  await deliverAll(deps);
  const spans = await spansOfRun(deps, runId);
  const [turn] = spans.filter(({ kind }) => kind === 'iteration');
  expect(turn).toEqual(parked.find(({ kind }) => kind === 'iteration'));
  expect(turn).toMatchObject({ name: 'turn', attributes: { [attribute.turn]: 1 } });
  const [done, held] = spans.filter(({ kind }) => kind === 'step');
  expect(done).toMatchObject({ parent_id: turn?.span_id, links: [] });
  expect(held?.parent_id).toBe(spans.find(({ kind }) => kind === 'run')?.span_id);
  expect(held?.links).toMatchObject([
    { trace_id: traceIdOf(runId), span_id: turn?.span_id, attributes: { [attribute.linkType]: linkType.turn } },
  ]);
});

/** A run whose only step was begun by a worker that is gone. */
async function abandoned(deps: InMemoryWorker['deps'], step: typeof write): Promise<string> {
  const policy = { rules: [{ match: { effect: 'external' }, action: 'allow' }] };
  const { runId } = await submitRun(deps, { spec: specOf([[step]], { policy }), by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const { run, steps } = await listSteps(deps, runId);
  const [begun] = steps;
  if (begun === undefined) throw new Error('there is no step');
  expect(await append(deps, runId, startAttempt(run, begun, 'lost-worker'))).toMatchObject({ ok: true });
  await deliverAll(deps);
  return runId;
}

test('a worker that dies in a step leaves a lost attempt, a take-over and another attempt', async () => {
  const { deps } = workerAt();
  const runId = await abandoned(deps, write);
  expect(shape(await spansOfRun(deps, runId))).toMatchInlineSnapshot(`
    "invoke_workflow test succeeded
      segment queued
        workspace materialise
      segment running → previous
        workspace take_over
        turn
          plan
          execute_tool count succeeded (step retried)
            wait queue
            attempt lost !EWORKERLOST
            wait queue
            attempt succeeded"
  `);
});

test('an external call whose worker died is indeterminate until a person decides', async () => {
  const { deps } = workerAt();
  const runId = await abandoned(deps, external);
  const [view] = await pendingApprovals(deps, runId);
  await decideOn(deps, view, { decision: 'respond', message: 'it took effect', by: 'bob' });
  await deliverAll(deps);
  expect(shape(await spansOfRun(deps, runId))).toMatchInlineSnapshot(`
    "invoke_workflow test succeeded (run resumed)
      segment queued
        workspace materialise
      segment running → previous
        turn
          plan
      segment waiting → previous
        workspace take_over
        execute_tool count succeeded → turn (step indeterminate)
          wait queue
          attempt indeterminate !EWORKERLOST
          wait approval respond bob
      segment running → previous"
  `);
});

test('a sub-agent is a task that links to its run, which links back', async () => {
  const { deps } = workerAt();
  const runId = await submitted(deps, [
    [{ args: { effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }] } } }],
  ]);
  const spans = await spansOfRun(deps, runId);
  expect(shape(spans)).toMatchInlineSnapshot(`
    "invoke_workflow test succeeded
      segment queued
        workspace materialise
      segment running → previous
        task agent completed → sub_agent (task started)
          wait queue
        turn
          plan
          execute_tool count succeeded
            wait queue
            attempt deferred
            wait task
            attempt succeeded"
  `);
  const task = spans.find(({ kind }) => kind === 'task');
  const childId = String(task?.attributes[attribute.childRunId]);
  const child = (await spansOfRun(deps, childId)).find(({ kind }) => kind === 'run');
  expect(task?.links).toMatchObject([{ trace_id: traceIdOf(childId), span_id: child?.span_id }]);
  expect(child?.links).toMatchObject([
    { trace_id: traceIdOf(runId), span_id: task?.span_id, attributes: { [attribute.linkType]: linkType.worksFor } },
  ]);
});

test('a fork links to the step that it continues, also step by step where a turn is kept in part', async () => {
  const { deps } = workerAt();
  const runId = await submitted(deps, [[read], [read, write]]);
  const original = await spansOfRun(deps, runId);
  const steps = original.filter(({ kind }) => kind === 'step');
  const { runId: fork } = await forkRun(deps, runId, { fromStep: 2, changes: {}, by: 'test' });
  await deliverAll(deps);
  const spans = await spansOfRun(deps, fork);
  expect(shape(spans)).toMatchInlineSnapshot(`
    "invoke_workflow test succeeded → forked_from
      segment queued
        workspace materialise
        turn
          plan
          execute_tool count succeeded → forked_from
      segment running → previous
        execute_tool count succeeded → turn
          wait queue
          attempt succeeded"
  `);
  const run = spans.find(({ kind }) => kind === 'run');
  expect(run?.links[0]).toMatchObject({ trace_id: traceIdOf(runId), span_id: steps[1]?.span_id });
  const kept = spans.find(({ attributes }) => attributes[attribute.inheritedFrom] !== undefined);
  expect(kept?.links[0]).toMatchObject({ span_id: steps[1]?.span_id });
});

test('a retry after the end is another life beside the first, and links to it', async () => {
  const { deps } = workerAt();
  const runId = await submitted(deps, [[{ args: { effect: 'read', fail: true } }]]);
  await retryRun(deps, runId, { keepExternalEffects: true, by: 'ann' });
  await deliverAll(deps);
  const spans = await spansOfRun(deps, runId);
  expect(shape(spans)).toMatchInlineSnapshot(`
    "invoke_workflow test failed !EASKED
      segment queued
        workspace materialise
      segment running → previous
        turn
          plan
          execute_tool count failed !EASKED
            wait queue
            attempt failed !EASKED
    invoke_workflow test failed !EASKED → previous (run rewound, run resumed)
      segment running → previous
        workspace take_over
        turn
          plan
          execute_tool count failed !EASKED
            wait queue
            attempt failed !EASKED"
  `);
  expect(spans.filter(({ kind }) => kind === 'run').map(({ span_id }) => span_id)).toEqual(
    [spanKeys.run(1), spanKeys.run(2)].map((key) => spanIdOf(runId, key)),
  );
});

test('a publish with a conflict stands beside its run, with its validators and decisions', async () => {
  const faults = { conflict: true };
  const { deps } = workerAt(faults);
  const runId = await submitted(deps, [[write]], { validators: ['1'], policy: { publish: 'hold' } });
  await requestPublication(deps, runId, { by: 'ann', message: 'm' });
  await deliverAll(deps);
  const [conflict] = await pendingApprovals(deps, runId);
  faults.conflict = false;
  await decideOn(deps, conflict, { decision: 'approve', by: 'ann' });
  await deliverAll(deps);
  const [held] = await pendingApprovals(deps, runId);
  await decideOn(deps, held, { decision: 'approve', by: 'bob' });
  await deliverAll(deps);
  expect(shape(await spansOfRun(deps, runId))).toMatchInlineSnapshot(`
    "invoke_workflow test succeeded
      segment queued
        workspace materialise
      segment running → previous
        turn
          plan
          execute_tool count succeeded
            wait queue
            attempt succeeded
    publish published → run (publish conflicted, publish released, publish released)
      wait approval approve ann
      publish validate
      wait approval approve bob"
  `);
});

test('a long run is cut into segments of 200 steps, between two turns', async () => {
  const { deps } = workerAt();
  const groups = Array.from({ length: 15 }, () => Array.from({ length: 15 }, () => read));
  const runId = await submitted(deps, groups);
  const segments = (await spansOfRun(deps, runId)).filter(({ name }) => name === 'segment running');
  expect(segments.map(({ attributes }) => attributes[attribute.steps])).toEqual([210, 15]);
});

test('a turn of a model has what was asked and what answered', async () => {
  const { deps, clock } = workerAt();
  const next: typeof deps.planners.model.next = async () => {
    clock.time += 2500;
    return {
      ...{ kind: 'finish', message: 'what it said', answer: 'what it said' },
      usage: { input_tokens: 120, output_tokens: 7, cost_micros: 90 },
      answered: { model: 'gpt-5-2026-01-01', id: 'resp_1', finish_reason: 'stop' },
    };
  };
  const model = { ...deps, planners: { ...deps.planners, model: { next } } };
  const spec = {
    ...specOf([[read]]),
    goal: { planner: 'model' as const, prompt: 'a secret plan', model: 'openai/gpt-5' },
  };
  const { runId } = await submitRun(model, { spec, by: 'test' });
  clock.time += 400;
  await deliverAll(model);
  const spans = await spansOfRun(model, runId);
  const turn = spans.find(({ kind }) => kind === 'turn');
  expect(turn).toMatchObject({
    name: 'chat gpt-5',
    attributes: {
      [genAi.operation]: 'chat',
      [genAi.provider]: 'openai',
      [genAi.requestModel]: 'gpt-5',
      [genAi.responseModel]: 'gpt-5-2026-01-01',
      [genAi.responseId]: 'resp_1',
      [genAi.finishReasons]: ['stop'],
      [genAi.inputTokens]: 120,
      [genAi.outputTokens]: 7,
      [attribute.costMicros]: 90,
    },
  });
  expect(Date.parse(turn?.end ?? '') - Date.parse(turn?.start ?? '')).toBe(2500);
  expect(spans.find(({ kind }) => kind === 'run')?.name).toBe('invoke_agent test');
  expect(spans.find(({ kind }) => kind === 'run')?.attributes).toMatchObject({
    [genAi.provider]: 'openai',
    [genAi.requestModel]: 'gpt-5',
    [genAi.inputTokens]: 120,
    [genAi.outputTokens]: 7,
    [attribute.costMicros]: 90,
  });
  expect(JSON.stringify(spans)).not.toMatch(/secret plan|what it said/);
});

test('the span of a run has the sum of its turns, also while the run is open, and a reader twice sees it once', async () => {
  const { deps } = workerAt();
  let asked = 0;
  const next: typeof deps.planners.model.next = async () => {
    asked += 1;
    const usage = { input_tokens: 100, output_tokens: 10, cached_input_tokens: 40, cost_micros: 5 };
    if (asked === 3) return { kind: 'finish', message: 'done', answer: 'done', usage };
    return { kind: 'calls', message: 'on', answer: {}, calls: [{ tool: 'count', args: { effect: 'read' } }], usage };
  };
  const model = { ...deps, planners: { ...deps.planners, model: { next } } };
  const goal = { planner: 'model' as const, prompt: 'count', model: 'google/gemini-3' };
  const { runId } = await submitRun(model, { spec: { ...specOf([[read]]), goal }, by: 'test' });
  const runOf = async () => (await spansOfRun(model, runId)).filter(({ kind }) => kind === 'run');
  const [before] = await runOf();
  expect(before).toMatchObject({ end: null, attributes: { [genAi.provider]: 'gcp.gemini' } });
  expect(before?.attributes).not.toHaveProperty(genAi.inputTokens);
  await deliverAll(model);
  const [after, ...others] = await runOf();
  expect(others).toEqual([]);
  expect(after?.span_id).toBe(before?.span_id);
  expect(after?.attributes).toMatchObject({
    [genAi.inputTokens]: 300,
    [genAi.outputTokens]: 30,
    [genAi.cacheReadTokens]: 120,
    [attribute.costMicros]: 15,
  });
  expect(await runOf()).toEqual([after]);
});

test('a model that refuses the key, and answers after the key is changed', async () => {
  const { deps, clock } = workerAt();
  let isRefused = true;
  const next: typeof deps.planners.model.next = async () => {
    clock.time += 700;
    if (isRefused) throw Object.assign(new Error('refused'), { code: 'EMODELAUTH', retryable: false });
    return { kind: 'finish', message: 'done', answer: 'done' };
  };
  const model = { ...deps, planners: { ...deps.planners, model: { next } } };
  const goal = { planner: 'model' as const, prompt: 'ask', model: 'openai/gpt-5' };
  const { runId } = await submitRun(model, { spec: { ...specOf([[read]]), goal }, by: 'test' });
  await deliverAll(model);
  isRefused = false;
  clock.time += 3_600_000;
  await requestResume(model, runId, { by: 'test' });
  await deliverAll(model);
  const spans = await spansOfRun(model, runId);
  // The pause cut the turn off, so its two requests are in two spans of the same turn.
  const parts = spans.filter(({ kind }) => kind === 'iteration');
  expect(parts.map(({ attributes }) => attributes[attribute.turn])).toEqual([1, 1]);
  const turns = spans.filter(({ kind }) => kind === 'turn');
  expect(turns.map(({ parent_id }) => parent_id)).toEqual(parts.map(({ span_id }) => span_id));
  expect(turns.map(({ name, status, message }) => [name, status, message])).toEqual([
    ['chat gpt-5', 'error', 'EMODELAUTH'],
    ['chat gpt-5', 'ok', undefined],
  ]);
  expect(turns.map(({ start, end }) => Date.parse(end ?? '') - Date.parse(start))).toEqual([700, 700]);
});

test('a model that is asked again after an hour', () => {
  const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
  const trace = openTrace('run_1');
  Object.assign(trace, { planner: 'model', model: 'openai/gpt-5', isAlive: true, now: Date.parse(at(0)) });
  trace.due = trace.now;
  const reason = { code: 'EMODELUNAVAILABLE', message: 'away' };
  const data = {
    model: 'openai/gpt-5',
    next: 'openai/gpt-5',
    failures: 1,
    tries: 1,
    since: at(2),
    until: at(3600),
    reason,
  };
  const about = { type: 'model.retrying' as const, id: 'evt_1', run_id: 'run_1' };
  const first = addEvent(trace, { ...about, seq: 2, time: at(2), data });
  const again = { ...data, failures: 2, until: at(9000) };
  const second = addEvent(trace, { ...about, seq: 3, time: at(3605), data: again });
  const told = [...first, ...second].map(({ name, start, end, message }) => [name, start, end, message]);
  expect(told).toEqual([
    ['chat gpt-5', at(0), at(2), 'EMODELUNAVAILABLE'],
    ['wait model', at(2), at(3600), undefined],
    ['chat gpt-5', at(3600), at(3605), 'EMODELUNAVAILABLE'],
  ]);
});
