import type { RunDecision } from '@holdpoint/engine/worker';
import { expect, test } from 'vitest';
import { decisionNote } from './decision-note.ts';

const note = (...decided: Partial<RunDecision>[]) =>
  decisionNote({ decided: decided.map((one) => ({ decision: 'approve', isIndeterminate: false, ...one })) });
const ranAgain =
  'The worker was lost while this call ran, and it was not known whether it took effect. A person had it run again.';

test.for<[string, Partial<RunDecision>[], string]>([
  ['a call without a decision', [], ''],
  ['an approval without words', [{}], ''],
  ['an approval with blanks for words', [{ message: ' ' }], ''],
  ['an approval', [{ message: 'hurry' }], 'A person approved this call. They say: hurry'],
  [
    'an edit',
    [{ decision: 'edit', args: { a: 'b"c' } }],
    'A person changed the arguments before it ran: {"a":"b\\"c"}.',
  ],
  ['a call in doubt', [{ isIndeterminate: true }], ranAgain],
  ['a call in doubt, with words', [{ isIndeterminate: true, message: 'once more' }], `${ranAgain} They say: once more`],
  [
    'an edit, and then a call in doubt',
    [{ decision: 'edit', args: {}, message: 'so' }, { isIndeterminate: true }],
    `A person changed the arguments before it ran: {}. They say: so\n${ranAgain}`,
  ],
])('%s', ([, decided, words]) => expect(note(...decided)).toBe(words));

test('long arguments keep both ends and the count left out; a message stays whole', () => {
  const content = `begin${'x'.repeat(10_000)}end`;
  const long = note({ decision: 'edit', args: { path: 'a', content }, message: 'm'.repeat(50_000) });
  expect(long).toContain('"content":"beginx');
  expect(long).toContain('…[6008 characters are left out here]…');
  expect(long).toContain('xend"');
  expect(long).toContain('m'.repeat(50_000));
  const many = note({ decision: 'edit', args: { all: Array.from({ length: 20_000 }, (_, n) => n) } });
  expect(many.length).toBeLessThan(16_200);
  expect(note({ decision: 'edit', args: { a: '😀'.repeat(5000) } }).isWellFormed()).toBe(true);
});
