/** The facts about a call which decide when calls of its turn may start. */
export interface CallState {
  isSettled: boolean;
  /** The call may change the workspace, or anything else visible to other calls. */
  writes: boolean;
  /** The call settles without running, so no call waits for the call. */
  isDenied: boolean;
}

/**
 * The calls of a turn that may start now. Calls take effect as if run in the order of writing: neighbouring reads start together, a write
 * starts when every call before the write is settled, and a read when every write before the read is settled.
 */
export function unblocked<Call>(calls: readonly Call[], stateOf: (call: Call) => CallState): Call[] {
  let readsAreOpen = false;
  let writeIsOpen = false;
  return calls.filter((call) => {
    const { isSettled, writes, isDenied } = stateOf(call);
    if (isSettled || writeIsOpen) return false;
    if (isDenied) return true;
    const mayStart = !(writes && readsAreOpen);
    if (writes) writeIsOpen = true;
    else readsAreOpen = true;
    return mayStart;
  });
}

/** A step in the order of the plan. */
export interface ListedStep {
  id: string;
  /** The number of the step in fork and undo, from 1, unless the step is undone. */
  number: number;
  /** The step belongs to the last planning of the turn. */
  isLatest: boolean;
}

/** The steps of a field `turn:N` in order: steps at the same place in the turn are in the order of their planning. */
export function parseTurn(row: string): ListedStep[] {
  const places = new Map<string, { place: number; number: number; isLatest: boolean }>();
  const times = row.split(';').slice(1);
  for (const [time, planned] of times.entries()) {
    const [ids = '', before = '0'] = planned.split('@');
    const isLatest = time === times.length - 1;
    for (const [place, id] of ids.split(' ').entries()) {
      places.set(id, { place, number: Number(before) + place + 1, isLatest });
    }
  }
  return [...places]
    .sort(([one, a], [other, b]) => a.place - b.place || (one < other ? -1 : 1))
    .map(([id, { number, isLatest }]) => ({ id, number, isLatest }));
}
