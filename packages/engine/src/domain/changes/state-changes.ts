import type { EventOf, EventType, ModelUsage } from '@holdpoint/contract';
import { type Cell, runField } from '../model.ts';

/** What events do to a state hash: the fields that get a new value, and the increments of integer fields. */
export class StateChanges {
  readonly values: Record<string, string> = {};
  readonly increments: Record<string, number> = {};

  /** Leaves the field as it is when `value` is undefined. */
  set<Value>({ name, encode }: Cell<Value>, value: NoInfer<Value> | undefined): void {
    if (value === undefined) return;
    this.values[name] = encode(value);
    delete this.increments[name];
  }

  clear({ name }: Cell<never>): void {
    this.values[name] = '';
    delete this.increments[name];
  }

  increase({ name }: Cell<number>, by = 1): void {
    const base = this.values[name];
    if (base === undefined) this.increments[name] = (this.increments[name] ?? 0) + by;
    else this.values[name] = String(Number(base) + by);
  }
}

/** What each of these events does to the state. */
export type ChangesOf<Type extends EventType> = {
  [One in Type]: (state: StateChanges, event: EventOf<One>) => void;
};

/** The event types of an aggregate: those with this prefix. */
export type EventsOf<Aggregate extends string> = Extract<EventType, `${Aggregate}.${string}`>;

/** For events that are only recorded. */
export const noChange = (): void => {};

/** What a model used counts for the limits of the run. */
export function countUsage(state: StateChanges, usage: ModelUsage): void {
  const { input_tokens, output_tokens, cached_input_tokens, cost_micros } = usage;
  state.increase(runField.input_tokens, input_tokens);
  state.increase(runField.output_tokens, output_tokens);
  if (cached_input_tokens) state.increase(runField.cached_input_tokens, cached_input_tokens);
  if (cost_micros !== undefined) state.increase(runField.cost_micros, cost_micros);
}

/** The last writer is presumed dead: the tree is rebuilt from the snapshot in the log. */
export function requireRestore(state: StateChanges): void {
  state.set(runField.restore, 'due');
  state.clear(runField.writer);
  state.clear(runField.merging);
}
