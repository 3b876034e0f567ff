import { readdirSync, readFileSync } from 'node:fs';
import type { Repetition } from '@holdpoint/contract';
import { describe, expect, test } from 'vitest';
import { isLooping, loopWarning, trackRepetition } from './loop-detection.ts';

type Steps = Parameters<typeof trackRepetition>[1];

/** Recorded conversations: `tests/conversations/record.ts` made their calls with the real tools on real modules. */
const folder = new URL('../../../../tests/conversations/', import.meta.url);
const recorded = (kind: 'work' | 'loops'): [string, Steps[]][] =>
  readdirSync(new URL(`${kind}/`, folder)).map((name) => {
    const lines = readFileSync(new URL(`${kind}/${name}`, folder), 'utf8')
      .trimEnd()
      .split('\n');
    return [name, lines.map((line) => JSON.parse(line) as Steps)];
  });

/** The turns before which the model is warned, and the turn before which the run pauses. */
function follow(turns: readonly Steps[], after = 5): { warned: number[]; paused: number | undefined; code?: string } {
  let repetition: Repetition | undefined;
  const warned: number[] = [];
  for (const [at, steps] of turns.entries()) {
    repetition = trackRepetition(repetition, steps);
    const problem = isLooping(repetition, after);
    if (problem !== undefined) return { warned, paused: at + 1, code: problem.code };
    if (loopWarning(repetition, after) !== undefined) warned.push(at + 1);
  }
  return { warned, paused: undefined };
}

const work = recorded('work');
const loops = recorded('loops');

test('there are sixty conversations of ordinary work and thirty loops', () => {
  expect(work.length).toBeGreaterThanOrEqual(60);
  expect(loops.length).toBeGreaterThanOrEqual(30);
});

test.each(work)('%s does not pause', (_, turns) => {
  expect(follow(turns)).toMatchObject({ paused: undefined });
});

test.each(loops)('%s pauses after one warning', (_, turns) => {
  const { warned, paused, code } = follow(turns);
  expect(code).toBe('loop_repeated_calls');
  expect(warned).toHaveLength(1);
  // Four turns of work come first. The longest cycle has four turns.
  expect(paused).toBeGreaterThan(warned[0] ?? 0);
  expect(paused).toBeLessThanOrEqual(4 + 3 * 4);
});

const call = (value: unknown, more: object = {}): Steps => [
  { tool: 'bash', args: { command: 'x' }, status: 'succeeded', value, ...more },
];

describe('a cycle', () => {
  const cycle = (length: number, turns: number) => Array.from({ length: turns }, (_, at) => call(at % length));

  test.each([
    [1, 4, 5],
    [2, 4, 6],
    [3, 6, 9],
    [4, 8, 12],
  ])('of %i turns is named after %i turns, and pauses after %i', (length, warned, paused) => {
    expect(follow(cycle(length, 40))).toEqual({ warned: [warned], paused, code: 'loop_repeated_calls' });
  });

  test('of five turns is none', () => {
    expect(follow(cycle(5, 60))).toEqual({ warned: [], paused: undefined });
  });

  test('that the model leaves after the warning does not pause, and a later loop is named again', () => {
    const turns = [...cycle(1, 4), call('other'), ...cycle(1, 5)];
    expect(follow(turns)).toMatchObject({ warned: [4, 9], paused: 10 });
  });

  test.each([2, 3, 10])('is named before the pause for any limit (%i)', (after) => {
    for (let length = 1; length <= 4; length++) {
      const { warned, paused } = follow(cycle(length, 60), after);
      expect(warned).toHaveLength(1);
      expect(paused).toBeGreaterThanOrEqual((warned[0] ?? 0) + length);
    }
  });
});

test('another exit code, another argument or one more line is another outcome', () => {
  const turns = Array.from({ length: 20 }, (_, at) =>
    call({ exit_code: at, stdout: 'same' }, { status: 'failed', error: { code: 'EEXIT', message: '' } }),
  );
  expect(follow(turns)).toEqual({ warned: [], paused: undefined });
});

test('durations, clocks and addresses make no difference', () => {
  const turns = Array.from({ length: 5 }, (_, n) =>
    call({
      stdout: `12:0${n}:11 FAIL a.test in 0.0${n}2s (1${n} ms) at 0x7f0${n}aa\n2026-01-0${n + 1}T10:00:0${n}Z`,
      stdout_bytes: n,
      duration_ms: n,
    }),
  );
  expect(follow(turns)).toMatchObject({ paused: 5 });
});

test('different calls that never get an answer pause later, after one warning', () => {
  const turns = Array.from({ length: 12 }, (_, n) =>
    call(null, { args: { n }, status: 'failed', error: { code: 'EINVALIDARGS' } }),
  );
  expect(follow(turns)).toEqual({ warned: [9], paused: 10, code: 'loop_only_failures' });
});

test('the repetition of an older log, without cycles, counts on', () => {
  const now = trackRepetition(undefined, call('same'));
  if (now === undefined) throw new Error('nothing was tracked');
  const { digest } = now;
  const old: Repetition = { digest, same: 4, failed: 0 };
  expect(isLooping(old, 5)).toBeUndefined();
  expect(isLooping(trackRepetition(old, call('same')), 5)).toMatchObject({ code: 'loop_repeated_calls' });
  expect(trackRepetition(old, call('other'))).toMatchObject({ same: 1, cycles: [0, 0, 0, 0] });
});
