import * as contract from '@holdpoint/contract';
import { approvalField, type Cell, runField, snapshotIndex, taskField, turnField } from './model.ts';

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

  /** The files of the run are in this state now, and the event is the place of the snapshot. */
  setSnapshot(snapshot: string): void {
    this.set(runField.snapshot, snapshot);
    this.mark(snapshotIndex, runField.seq, { text: ` ${snapshot.slice(0, snapshotDigits)}:`, ahead: 1 });
  }

  setAbsent(made: Parameters<typeof contract.absentContent>[0]): void {
    this.set(runField.absent, contract.absentContent(made));
  }

  /** The usage of a model counts for the limits of the run. */
  countUsage({ input_tokens, output_tokens, cached_input_tokens, cost_micros }: contract.ModelUsage): void {
    this.increase(runField.input_tokens, input_tokens);
    this.increase(runField.output_tokens, output_tokens);
    if (cached_input_tokens) this.increase(runField.cached_input_tokens, cached_input_tokens);
    if (cost_micros !== undefined) this.increase(runField.cost_micros, cost_micros);
  }

  /** The last writer is presumed dead: the tree is rebuilt from the snapshot in the log. */
  requireRestore(): void {
    this.set(runField.restore, 'due');
    this.clear(runField.writer);
    this.clear(runField.merging);
  }

  // The sum of all stops minus the sum of all starts is the time between them.
  startClock(time: string): void {
    this.increase(runField.active_ms, -Date.parse(time));
  }

  stopClock(time: string): void {
    this.increase(runField.active_ms, Date.parse(time));
  }

  endRun(time: string): void {
    this.set(runField.ended_at, time);
    this.clear(runField.closing);
    this.stopClock(time);
  }

  /** @param from.ahead of the present steps, when some of the turn are among them */
  listTurn(turn: number, steps: readonly string[], { ahead }: { ahead?: number } = {}): void {
    this.mark(turnField(turn), runField.alive, { text: `;${steps.join(' ')}@`, ahead });
  }

  closeApproval(approvalId: string, status: contract.ApprovalStatus): void {
    this.set(approvalField.status(approvalId), status);
    this.increase(runField.parked, -1);
  }

  setReport({
    task_id,
    report,
    total,
  }: {
    task_id: string;
    report: contract.AgentReport;
    total: contract.AgentsTotal;
  }): void {
    this.set(taskField.report(task_id), report);
    this.set(runField.agents_total, total);
  }

  endPublication(status: contract.PublicationStatus, detail: PublicationDetail): void {
    this.set(runField.publication, status);
    this.set(runField.publication_detail, detail);
  }
}

type PublicationDetail = Parameters<typeof runField.publication_detail.encode>[0];

/** The index of snapshots has the first digits of each id. */
const snapshotDigits = 4;
