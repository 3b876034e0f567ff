import type { ModelRetrying } from '@holdpoint/contract';
import { specOf } from '@holdpoint/engine/testing';
import type { PlannerDecision } from '@holdpoint/engine/worker';
import { ModelError, type ModelErrorCode } from '@holdpoint/models';
import { expect, test } from 'vitest';
import { afterFailure, chooseModel, readFailure } from './after-failure.ts';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1);
const error = (code: ModelErrorCode, more = {}) => new ModelError({ code, message: code, next: '', ...more });

/** A run that meets one failure after the other, each when it is asked again. */
function failing(fallbacks: string[], failures: (ModelErrorCode | [ModelErrorCode, object])[], patience = 86_400) {
  const spec = specOf([[{ args: {} }]]);
  const goal = { planner: 'model' as const, model: 'a/1', prompt: 'p', ...(fallbacks.length > 0 && { fallbacks }) };
  const input = {
    spec: { ...spec, goal, limits: { ...spec.limits, model_patience_s: patience } },
    model: 'a/1',
    modelWait: undefined as ModelRetrying | undefined,
    modelsLeft: {},
  };
  let now = start;
  const asked: [string, number][] = [];
  let last: PlannerDecision | undefined;
  for (const one of failures) {
    const model = chooseModel({ input, now });
    asked.push([model, Math.round((now - start) / 1000)]);
    const failure = readFailure(Array.isArray(one) ? error(...one) : error(one), model, fallbacks.length > 0);
    if (failure === undefined) return { asked, last: 'thrown' as const, input };
    last = afterFailure({ input, now, random: () => 1 }, failure);
    if (last.kind !== 'retrying') break;
    input.modelWait = last.retrying;
    input.modelsLeft = last.retrying.left ?? input.modelsLeft;
    now = Math.max(now, Date.parse(last.retrying.until));
  }
  return { asked, last, input };
}

const times = (count: number) => Array<ModelErrorCode>(count).fill('EMODELUNAVAILABLE');

test('waits grow to five minutes, and end with the patience of the run', () => {
  const { asked, last } = failing([], times(200), 3600);
  expect(asked.slice(0, 10).map(([, at]) => at)).toEqual([0, 2, 6, 14, 30, 62, 126, 254, 510, 810]);
  expect(asked.at(-1)).toEqual(['a/1', 3600]);
  expect(last).toMatchObject({ kind: 'unavailable', reason: { code: 'EMODELUNAVAILABLE' } });
  expect(last).toHaveProperty('reason.message', expect.stringContaining('60 minutes'));
});

test('without patience the first failure pauses the run', () => {
  expect(failing([], times(1), 0).last).toMatchObject({ kind: 'unavailable' });
});

test('a provider that names a time is asked then; one that keeps refusing is asked less often', () => {
  const hours = failing([], [['EMODELRATELIMIT', { retryAfterMs: 3 * 60 * minute }], 'EMODELUNAVAILABLE']);
  expect(hours.asked[1]?.[1]).toBe(3 * 3600 + 2);
  const { asked } = failing([], Array(12).fill(['EMODELRATELIMIT', { retryAfterMs: 1000 }]));
  const waits = asked.slice(1).map(([, at], index) => at - (asked[index]?.[1] ?? 0));
  expect(waits.slice(0, 4)).toEqual([1, 1, 1, 1]);
  expect(waits.at(-1)).toBe(300);
  const { asked: far } = failing(
    [],
    [['EMODELRATELIMIT', { retryAfterMs: 400 * 24 * 60 * minute }], 'EMODELUNAVAILABLE'],
  );
  expect(far[1]?.[1]).toBeLessThanOrEqual(12 * 3600 + 2);
});

test.for<ModelErrorCode>(['EMODELAUTH', 'EMODELQUOTA', 'EMODELREQUEST', 'EMODELCONTEXT'])(
  '%s is worth no later request to the same model',
  (code) => expect(failing([], [code]).last).toBe('thrown'),
);

test('after two failures the next model is asked at once, and so on', () => {
  const { asked } = failing(['b/2', 'c/3'], times(7));
  expect(asked.map(([model]) => model)).toEqual(['a/1', 'a/1', 'b/2', 'b/2', 'c/3', 'c/3', 'a/1']);
  expect(asked[2]?.[1]).toBe(asked[1]?.[1]);
  expect(asked[6]?.[1]).toBeGreaterThan(asked[5]?.[1] ?? 0);
});

test('a wrong key, an empty account, an unknown model and a long absence lead to the next model at once', () => {
  for (const gone of ['EMODELAUTH', 'EMODELQUOTA', 'EMODELNAME'] as const) {
    expect(failing(['b/2'], [gone, 'EMODELUNAVAILABLE']).asked.map(([model]) => model)).toEqual(['a/1', 'b/2']);
  }
  const away = failing(['b/2'], [['EMODELRATELIMIT', { retryAfterMs: minute }], 'EMODELUNAVAILABLE']);
  expect(away.asked).toEqual([
    ['a/1', 0],
    ['b/2', 0],
  ]);
  const unknown = failing(['b/2'], [['EMODELREQUEST', { status: 404 }], 'EMODELUNAVAILABLE']);
  expect(unknown.asked[1]?.[0]).toBe('b/2');
});

test('a model whose key is wrong is not waited for; when all are gone the run pauses', () => {
  const { asked } = failing(['b/2'], ['EMODELAUTH', ...times(5)]);
  expect(new Set(asked.slice(1).map(([model]) => model))).toEqual(new Set(['b/2']));
  expect(failing(['b/2'], ['EMODELAUTH', 'EMODELQUOTA']).last).toMatchObject({
    kind: 'unavailable',
    reason: { code: 'EMODELQUOTA' },
  });
});

test('a new turn asks the first model again once it was left alone for five minutes', () => {
  const { input } = failing(['b/2'], times(2));
  const after = { ...input, modelWait: undefined };
  expect(chooseModel({ input: after, now: start + 2 * minute })).toBe('b/2');
  expect(chooseModel({ input: after, now: start + 6 * minute })).toBe('a/1');
});
