/** Seeded choices: the same seed makes the same choices in the same order. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(probability: number): boolean;
  /** A separate sequence: one part of the harness does not shift the choices of the others. */
  branch(name: string): Random;
}

/** mulberry32: 32 bits of state, uniform enough to choose faults. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const random: Random = {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
    chance: (probability) => next() < probability,
    branch: (name) => randomFrom([...name].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), seed)),
  };
  return random;
}
