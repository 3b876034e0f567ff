import type { RunEvent } from '@holdpoint/contract';
import { changesOf } from './changes/changes-of.ts';
import { StateChanges } from './changes/state-changes.ts';
import { nameOf } from './fields/field.ts';
import { type RunState, runFieldNames, type StoredStep, stepNames } from './state.ts';
import type { Transition } from './transition.ts';

const runPlaces = new Map(runFieldNames.map((name, at) => [name, at]));
const stepPlaces = new Map(stepNames.map((name, at) => [name, at]));

/** A transition that may be bound to the state that it was made from: it is refused when anything was appended since. */
export interface BoundTransition extends Transition {
  known?: KnownState | undefined;
}

/**
 * What the state hash of a run has at a sequence number: the run, and one of its steps. While nothing is appended, this process can judge
 * conditions itself, and compute what an append leaves: only events change a state.
 */
export class KnownState {
  readonly #run: RunState;
  readonly #stepId: string;
  readonly #stored: StoredStep;

  /** @param run parsed from `stored` */
  constructor(run: RunState, stepId: string, stored: StoredStep) {
    this.#run = run;
    this.#stepId = stepId;
    this.#stored = stored;
  }

  get seq(): number {
    return this.#run.seq;
  }

  /**
   * The changes of transitions one after the other.
   * @param stamped the events of each
   * @returns undefined: a condition does not hold, or is about something that is not known here
   */
  changesOf(transitions: readonly Transition[], stamped: readonly (readonly RunEvent[])[]): StateChanges | undefined {
    const changes = new StateChanges();
    for (const [at, transition] of transitions.entries()) {
      if (transition.before !== undefined) return undefined;
      for (const { field, is } of transition.if) {
        const value = this.#valueAfter(changes, field, this.#valueOf(field));
        if (value === undefined || !is.includes(value)) return undefined;
      }
      changesOf(stamped[at] ?? [], changes);
    }
    return changes;
  }

  /** A step that these changes create, and its run after them; undefined when they do not create it. */
  after(changes: StateChanges, stepId: string): StoredStep | undefined {
    if (!changes.values.has(nameOf(stepId, 'call'))) return undefined;
    const marks = new Map(
      changes.marks.flatMap(({ field, text, counter, by, width }) =>
        width > 0 ? [] : [[field, `${text}${Number(this.#valueOf(counter)) + by}`] as const],
      ),
    );
    const run = [...this.#stored.run];
    const step: (string | null)[] = stepNames.map(() => null);
    const objects: object[] = [];
    const { values, increments, raises } = changes;
    // By what has changed: most fields of a run have not, and each name that has an id in it is a new text.
    for (const field of new Set([...marks.keys(), ...values.keys(), ...increments.keys(), ...raises.keys()])) {
      const runPlace = runPlaces.get(field);
      const stepPlace = field.startsWith(stepId) ? stepPlaces.get(field.slice(stepId.length + 1)) : undefined;
      if (runPlace !== undefined) run[runPlace] = this.#valueAfter(changes, field, run[runPlace] ?? '') ?? null;
      if (stepPlace === undefined) continue;
      step[stepPlace] = this.#valueAfter(changes, field, marks.get(field) ?? '') ?? null;
      const object = changes.objects.get(field);
      if (object !== undefined) objects[stepPlace] = object;
    }
    return { run, step, objects, before: { stored: this.#stored.run, parsed: this.#run } };
  }

  /** Empty: absent. Undefined: not known. */
  #valueOf(field: string): string | undefined {
    const runPlace = runPlaces.get(field);
    if (runPlace !== undefined) return this.#stored.run[runPlace] ?? '';
    if (!field.startsWith(this.#stepId)) return undefined;
    const stepPlace = stepPlaces.get(field.slice(this.#stepId.length + 1));
    return stepPlace === undefined ? undefined : (this.#stored.step[stepPlace] ?? '');
  }

  /** What `append.lua` makes of a field. */
  #valueAfter({ values, increments, raises }: StateChanges, field: string, was: string | undefined) {
    const set = values.get(field) ?? was;
    if (set === undefined) return undefined;
    const by = increments.get(field);
    const sum = by === undefined ? set : String(Number(set) + by);
    const least = raises.get(field);
    return least === undefined || Number(sum) >= least ? sum : String(least);
  }
}
