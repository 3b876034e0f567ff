import type { RunEvent } from '@holdpoint/contract';
import { nameOf } from '../domain/fields/field.ts';
import { settledIndex } from '../domain/fields/run.ts';
import { columnSeparator, droppedColumns, settledColumns } from '../domain/fields/step.ts';
import { changesOf } from './changes-of.ts';

/** The state hash of a log: its fields and their values. The same as the hash after `append.lua`, event by event. */
export function fold(events: Iterable<RunEvent>): Record<string, string> {
  const { values, increments, marks, raises, packed, overruled } = changesOf(events);
  const state: Record<string, string> = Object.fromEntries(values);
  for (const [field, by] of increments) state[field] = String(by);
  for (const { field, text, by, width } of marks) add(state, field, text, by, width);
  for (const [field, least] of raises) state[field] = String(least);
  for (const id of packed) pack(state, id);
  return { ...state, ...Object.fromEntries(overruled) };
}

function add(state: Record<string, string>, name: string, text: string, number: number, width: number): void {
  const field = width === 0 ? name : `${name}${Math.floor(number / width)}`;
  state[field] = `${state[field] ?? ''}${text}${width === 0 ? number : number % width}`;
}

function pack(state: Record<string, string>, id: string): void {
  const names = settledColumns.map((column) => nameOf(id, column));
  state[id] = names.map((name) => (state[name] ?? '').replaceAll(columnSeparator, ' ')).join(columnSeparator);
  const { name, width } = settledIndex(state[nameOf(id, 'status')] ?? '');
  const { turn } = JSON.parse(state[nameOf(id, 'call')] ?? '{}') as { turn: number };
  add(state, name, ' ', turn, width);
  for (const name of [...names, ...droppedColumns.map((column) => nameOf(id, column))]) delete state[name];
}
