import { expect, it } from 'vitest';
import { patchLinesOf } from '../patch-lines.ts';
import { placeProposed } from './place-proposed.ts';

const draft = (over: object) => ({
  ...{ id: 'd', path: 'a.txt', line: 2, side: 'new' as const, snapshot: '', quote: 'same', text: 'Why?' },
  ...over,
});
/** The patch of a call that was asked again: the lines of the first patch have moved down by three. */
const again = patchLinesOf(
  [
    ...['--- a/a.txt', '+++ b/a.txt', '@@ -1,4 +1,6 @@'],
    ...[' one', '+new', '+new', ' two', '-same', '+same', '+same'],
    ...['--- a/b.txt', '+++ b/b.txt', '@@ -1,1 +1,2 @@', ' same', '+other'],
  ].join('\n'),
);
const placed = (over: object = {}) => placeProposed(again, draft(over));

it('a draft goes to the nearest line with its text, on its side of its file', () => {
  expect(placed()).toMatchObject({ path: 'a.txt', new: 5, text: '+same' });
  expect(placed({ line: 9 })).toMatchObject({ new: 6 });
  expect(placed({ side: 'old' })).toMatchObject({ old: 3, text: '-same' });
  expect(placed({ path: 'b.txt' })).toMatchObject({ path: 'b.txt', new: 1 });
});

it('a draft without its text in the patch has no line', () => {
  expect(placed({ quote: 'gone' })).toBeUndefined();
  expect(placed({ path: 'c.txt' })).toBeUndefined();
  expect(placed({ path: 'b.txt', side: 'old', quote: 'other' })).toBeUndefined();
});
