import { expect, test } from 'vitest';
import { observe, tableOf, timed } from './observe.ts';

/** A port with private fields, as the sandbox has: only the original can be its `this`. */
class Counter {
  #count = 0;
  readonly name = 'counter';
  get now(): number {
    return this.#count;
  }
  async add(amount: number): Promise<number> {
    this.#count += amount;
    return this.#count;
  }
  async twice<Result>(act: () => Promise<Result>): Promise<Result[]> {
    return [await act(), await act()];
  }
  reset(): void {
    this.#count = 0;
  }
}

test('a method of the table stands in front of the original, and the others stay', async () => {
  const counter = new Counter();
  const said: string[] = [];
  const observed = observe(counter, {
    add: (act) => async (amount) => {
      said.push(`add ${amount}`);
      return (await act(amount * 10)) + 1;
    },
  });
  expect(await observed.add(2)).toBe(21);
  expect([observed.now, observed.name, said]).toEqual([20, 'counter', ['add 2']]);
  // A method apart from its port, as `const { reset } = port` takes it.
  const { reset, twice } = observed;
  reset();
  expect(counter.now).toBe(0);
  expect(await twice(() => observed.add(1))).toEqual([11, 21]);
  expect(observed.add).toBe(observed.add);
  expect(observed).toBeInstanceOf(Counter);
});

test('tables lie in front of each other, the last one outermost', async () => {
  const said: string[] = [];
  const saying = (word: string) =>
    tableOf<Counter, string>({ add: word, twice: word }, (act, about, name) => async (...input) => {
      said.push(`${about} ${name} begins`);
      const result = await act(...input);
      said.push(`${about} ${name} ends`);
      return result;
    });
  const both = observe(observe(new Counter(), saying('inner')), saying('outer'));
  expect(await both.add(1)).toBe(1);
  expect(said).toEqual(['outer add begins', 'inner add begins', 'inner add ends', 'outer add ends']);
});

test('a copy of an observed plain port has the methods of the table', async () => {
  const port = { one: async () => 1, two: async () => 2 };
  const copy = { ...observe(port, { one: (act) => async () => (await act()) + 10 }) };
  expect([await copy.one(), await copy.two()]).toEqual([11, 2]);
  // Names that every object has are no entry of a table.
  expect(String(observe(port, {}))).toBe('[object Object]');
});

test('the time and the outcome are reported of a call that fails, too', async () => {
  const reports: [number, string][] = [];
  const report = (seconds: number, outcome: string) => void reports.push([seconds, outcome]);
  expect(await timed(async () => 'passed', { outcomeOf: (text) => text, report })).toBe('passed');
  const failing = timed(() => Promise.reject(new Error('no')), { outcomeOf: () => 'ok', report });
  await expect(failing).rejects.toThrow('no');
  expect(reports.map(([, outcome]) => outcome)).toEqual(['passed', 'error']);
  expect(reports.every(([seconds]) => seconds >= 0 && seconds < 60)).toBe(true);
});
