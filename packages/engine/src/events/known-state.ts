import type { RunEvent } from '@holdpoint/contract';
import { nameOf } from '../domain/fields/field.ts';
import { type RunState, runFieldNames, type StoredStep, stepNames } from '../domain/state.ts';
import { StateChanges } from '../domain/state-changes.ts';
import type { Transition } from '../domain/transition.ts';
import { changesOf } from './changes-of.ts';

const runPlaces = new Map(runFieldNames.map((name, at) => [name, at]));
const stepPlaces = new Map(stepNames.map((name, at) => [name, at]));

/** A transition with an optional bond to its source state: a bound transition is refused when anything was appended since. */
export interface BoundTransition extends Transition {
  known?: KnownState | undefined;
}

/**
 * The state hash of a run at a sequence number: the run, and a step of the run. While nothing is appended, this process can judge
 * conditions alone, and compute the state after an append: only events change a state.
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
   * The changes of transitions in their order.
   * @param stamped the events of each transition
   * @returns undefined: a condition fails, or is about a field unknown here
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

  /** A step created by these changes, and its run after them; undefined when they do not create the step. */
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
    // Goes by the changed fields: most fields of a run are unchanged, and each name with an id is a new text.
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

  /** The value of a field after `append.lua`. */
  #valueAfter({ values, increments, raises }: StateChanges, field: string, was: string | undefined) {
    const set = values.get(field) ?? was;
    if (set === undefined) return undefined;
    const by = increments.get(field);
    const sum = by === undefined ? set : String(Number(set) + by);
    const least = raises.get(field);
    return least === undefined || Number(sum) >= least ? sum : String(least);
  }
}
