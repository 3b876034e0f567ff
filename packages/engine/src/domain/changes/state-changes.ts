import type { EventOf, EventType, ModelUsage } from '@holdpoint/contract';
import { type Cell, runField, snapshotIndex } from '../model.ts';

/** Appends text to a field, and the value of a counter at this event. */
interface Mark {
  field: string;
  text: string;
  /** Empty: none, the number is `by`. */
  counter: string;
  /** The sum added to the counter by these changes before the mark. */
  by: number;
  /** The count of numbers covered by a field of an index; 0: the field is no index. */
  width: number;
}

/**
 * The effects of events on a state hash, in this order: fields get a new value, integer fields grow, counters are noted, the fields of
 * settled steps become a record per step, and fields of settled steps are overruled.
 */
export class StateChanges {
  // Maps: with objects, each name with an id would be a new shape of object.
  readonly values = new Map<string, string>();
  /** The objects among `values` before their encoding, so their text need not be parsed. */
  readonly objects = new Map<string, object>();
  readonly increments = new Map<string, number>();
  readonly marks: Mark[] = [];
  /** The least values of integer fields after the append. */
  readonly raises = new Map<string, number>();
  readonly packed: string[] = [];
  readonly overruled = new Map<string, string>();

  /** Leaves the field unchanged when `value` is undefined. */
  set<Value>({ name, encode }: Cell<Value>, value: NoInfer<Value> | undefined): void {
    if (value === undefined) return;
    this.values.set(name, encode(value));
    if (typeof value === 'object' && value !== null) this.objects.set(name, value);
    this.increments.delete(name);
  }

  clear({ name }: Cell<never>): void {
    this.values.set(name, '');
    this.objects.delete(name);
    this.increments.delete(name);
  }

  /** @param ahead added to the counter */
  mark(
    { name, width = 0 }: Cell<never> & { width?: number },
    counter: Cell<number>,
    { text = '', ahead = 0 }: { text?: string; ahead?: number | undefined },
  ): void {
    const by = (this.increments.get(counter.name) ?? 0) + ahead;
    this.marks.push({ field: name, text, counter: counter.name, by, width });
  }

  /** Adds a number to an index. */
  list({ name, width }: Cell<never> & { width: number }, number: number): void {
    this.marks.push({ field: name, text: ' ', counter: '', by: number, width });
  }

  raise({ name }: Cell<number>, least: number): void {
    this.raises.set(name, Math.max(least, this.raises.get(name) ?? least));
  }

  /** The step is settled. Its other changes in these events go into its record. */
  pack(stepId: string): void {
    this.packed.push(stepId);
  }

  /** Sets a field of a step that may have a record already. */
  overrule<Value>({ name, encode }: Cell<Value>, value: NoInfer<Value>): void {
    this.overruled.set(name, encode(value));
  }

  increase({ name }: Cell<number>, by = 1): void {
    const base = this.values.get(name);
    if (base === undefined) this.increments.set(name, (this.increments.get(name) ?? 0) + by);
    else this.values.set(name, String(Number(base) + by));
  }
}

/** Lists the event as the place of a snapshot of the files. */
export const listSnapshot = (state: StateChanges, snapshot: string): void =>
  state.mark(snapshotIndex, runField.seq, { text: ` ${snapshot.slice(0, snapshotDigits)}:`, ahead: 1 });

/** How many digits of its id the index has for each snapshot. */
const snapshotDigits = 4;

/** The effect of each of these events on the state. */
export type ChangesOf<Type extends EventType> = {
  [One in Type]: (state: StateChanges, event: EventOf<One>) => void;
};

/** The event types of an aggregate: all types with this prefix. */
export type EventsOf<Aggregate extends string> = Extract<EventType, `${Aggregate}.${string}`>;

/** For events without an effect on the state. */
export const noChange = (): void => {};

/** The usage of a model counts for the limits of the run. */
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
