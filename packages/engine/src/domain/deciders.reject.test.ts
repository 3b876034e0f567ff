import { expect, test } from 'vitest';
import { type Panel, whatIsMissing, whyNoDelegation, whyNot } from './deciders.ts';

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const caller = (name: string) => ({ name, kind: 'person' as const });

test('keys of one person, however many, and as delegates of anyone, take one seat of a quorum', () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const random = seeded(seed);
    const names = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, at) => `k${at}`);
    // Some names were held by others, too.
    const persons = new Map(names.map((name) => [name, random() < 0.3 ? ['mallory', 'other'] : ['mallory']]));
    const others = ['ann', 'bob'];
    const delegations = [...names, ...others].flatMap((from) =>
      names.filter(() => random() < 0.3).map((to) => ({ from, to })),
    );
    const deciders: { quorum: number; names?: string[] }[] =
      random() < 0.5 ? [{ quorum: 2 }] : [{ quorum: 2, names: [random() < 0.5 ? 'k*' : '*'] }];
    const panel: Panel = { deciders, delegations, escalated: [], submitters: [], persons };
    expect([seed, whatIsMissing(panel, names.map(caller))]).toEqual([seed, expect.stringContaining('2 of the')]);
    // With another person the vote passes.
    const isNamed = deciders[0]?.names?.[0] !== 'k*';
    if (isNamed) expect(whatIsMissing(panel, [...names, 'ann'].map(caller))).toBeUndefined();
  }
});

test('no key of a person decides on what another of them submitted, and none is a delegate', () => {
  const persons = new Map([
    ['laptop', ['mallory']],
    ['phone', ['mallory']],
    ['taken', ['bob', 'mallory']],
  ]);
  const panel: Panel = {
    deciders: [{ not_submitter: true }],
    delegations: [],
    escalated: [],
    submitters: ['laptop'],
    persons,
  };
  for (const name of ['laptop', 'phone', 'taken']) {
    expect(whyNot(panel, caller(name))).toContain(name);
    expect(whyNoDelegation(panel, caller('ann'), caller(name))).toContain(name);
  }
  expect(whyNot(panel, caller('ann'))).toBeUndefined();
  // A name without an entry is a person of its own: so are the names in older logs.
  expect(whyNot({ ...panel, persons: undefined }, caller('phone'))).toBeUndefined();
});
