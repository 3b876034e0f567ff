import { expect, test } from 'vitest';
import { z } from 'zod';
import { StateChanges } from '../state-changes.ts';
import { fieldIs, isAbsent } from '../transition.ts';
import { approvalTable, cellsById, cellsOf, integer, json, optional, schemaOf, text } from './field.ts';
import { runTable } from './run.ts';
import { stepTable } from './step.ts';
import { taskTable } from './task.ts';

const table = {
  name: text(z.string(), 'A name.'),
  count: integer('A number.'),
  tags: optional(json(z.array(z.string()), 'Tags.')),
};
const cells = cellsOf(table);

test('the table reads what its cells wrote', () => {
  const state = new StateChanges();
  state.set(cells.name, 'a');
  state.set(cells.count, 7);
  state.set(cells.tags, ['x', 'y']);
  const values = Object.fromEntries(state.values);
  expect(values).toEqual({ name: 'a', count: '7', tags: '["x","y"]' });
  expect(schemaOf(table).parse(values)).toEqual({ name: 'a', count: 7, tags: ['x', 'y'] });
  expect(schemaOf(table).parse({ name: 'a' })).toEqual({ name: 'a', count: 0 });
});

test('changes merge in order: a value wins over increments before it', () => {
  const state = new StateChanges();
  state.increase(cells.count, 5);
  state.set(cells.count, 2);
  state.increase(cells.count);
  state.set(cells.name, undefined);
  state.clear(cells.tags);
  const values = new Map([
    ['count', '3'],
    ['tags', ''],
  ]);
  const none = { increments: new Map(), marks: [], raises: new Map(), packed: [], overruled: new Map() };
  expect(state).toMatchObject({ values, ...none });
});

test('a condition on the value of an absent field holds for an absent field', () => {
  expect(fieldIs(cells.count, 0)).toEqual({ field: 'count', is: ['0', ''] });
  expect(fieldIs(cells.count, 1)).toEqual({ field: 'count', is: ['1'] });
  expect(fieldIs(cells.tags, undefined)).toEqual(isAbsent(cells.tags));
  expect(fieldIs(cellsById(table).name('step_1'), 'a', 'b')).toEqual({ field: 'step_1:name', is: ['a', 'b'] });
});

test.each(Object.entries({ runTable, stepTable, approvalTable, taskTable }))(
  '%s says what each field means',
  (_, one) => {
    for (const { meaning } of Object.values(one)) expect(meaning).toMatch(/^\S.*\.$/);
  },
);
