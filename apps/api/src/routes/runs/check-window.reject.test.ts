import { createRegistry, everyToolset } from '@holdpoint/tools';
import { expect, test } from 'vitest';
import { checkWindow } from './check-window.ts';

const catalog = createRegistry(everyToolset);

function check(window: number | undefined, goal: { prompt: string; system?: string }, allow: string[] = []) {
  const known = window === undefined ? {} : { 'openai-compatible/m': { window } };
  const model = 'openai-compatible/m';
  const run = { toolset: 'holdpoint', settings: {}, network: { allow }, modes: {} };
  checkWindow({ catalog, models: { known } as never }, run, { planner: 'model', model, ...goal });
}

const words = (count: number) => 'word '.repeat(count);

test.each([
  ['the tools alone', 4000, { prompt: 'Do it.' }, '/toolset'],
  ['a long prompt', 32_000, { prompt: words(20_000) }, '/prompt'],
  ['long instructions', 32_000, { prompt: 'Do it.', system: words(20_000) }, '/system'],
])('%s in a small window are refused with the numbers', (_name, window, goal, pointer) => {
  expect(() => check(window, goal)).toThrow(
    expect.objectContaining({
      code: 'window_too_small',
      message: expect.stringMatching(
        /about \d+ tokens \(tools \d+, instructions \d+, prompt \d+\) and \d+ for an answer/,
      ),
      errors: [expect.objectContaining({ pointer })],
    }),
  );
});

test.each([
  ['in a usual window', 200_000],
  ['in an unknown window', undefined],
])('a long prompt %s is accepted', (_name, window) => {
  expect(() => check(window, { prompt: words(20_000) })).not.toThrow();
});

test('tools that the run is not offered take no place in the window', () => {
  const tokensOf = (allow: string[]) => {
    try {
      check(100, { prompt: 'Do it.' }, allow);
    } catch (error) {
      return Number(/tools (\d+)/.exec(String(error))?.[1]);
    }
    return expect.unreachable();
  };
  expect(tokensOf([])).toBeLessThan(tokensOf(['example.com']));
});
