import { expect, test } from 'vitest';
import { partsOf } from '../../bench/steps-parts.ts';
import type { Interval, Part } from '../../bench/steps-tap.ts';

const step = 100;
/** Two appends around each call, as a run of one step after the other has them; `more` is relative to the begin of the call. */
const runOf = (steps: number, more: [Part, number, number][]): Interval[] =>
  Array.from({ length: steps }, (_, number) =>
    ([['tool', 0, 40], ['append', 50, 60], ['queue', 60, 80], ['append', 85, 90], ...more] as const).map(
      ([part, begin, end]): Interval => ({
        ...{ part, begin: number * step + begin, end: number * step + end },
        ...(part === 'tool' && { computed: { worker: number * 7, redis: number * 2 } }),
      }),
    ),
  ).flat();

test('each moment of a step has one part, and the first append after a call has its outcome', () => {
  const { share, total, commands, computed } = partsOf(
    runOf(5, [
      ['set-up', 5, 30],
      ['spawn', 5, 10],
      ['idle', 0, 99],
    ]),
    1,
  );
  const taken = Object.fromEntries([...share].filter(([, ms]) => ms > 0));
  expect(taken).toEqual({
    ...{ tool: 15, spawn: 5, 'set-up': 20, 'append outcome': 10, queue: 20, 'append start': 5, rest: 25 },
  });
  expect({ total, commands, computed }).toEqual({ total: step, commands: 3, computed: { worker: 7, redis: 2 } });
});

test('a start that is recorded while its call runs counts as the call', () => {
  const calls = runOf(5, []).filter(({ part, begin }) => part !== 'append' || begin % step < 80);
  const early = Array.from(
    { length: 5 },
    (_, n): Interval => ({ part: 'append', begin: n * step - 2, end: n * step + 20 }),
  );
  const { share } = partsOf([...calls, ...early], 1);
  expect([share.get('tool'), share.get('append outcome'), share.get('append start')]).toEqual([40, 10, 2]);
});
