/** What of a call decides when it may begin. */
export interface Place {
  isSettled: boolean;
  /** It may change the workspace, or anything else that other calls see. */
  writes: boolean;
  /** It settles without running, so nothing waits for it. */
  isDenied: boolean;
}

/**
 * The calls of a turn that nothing before them holds up: each takes effect as if they were made in the order they were written.
 * Neighbouring reads begin together, a write begins when every call before it is settled, and a read when every write before it is.
 */
export function unblocked<Call>(calls: readonly Call[], placeOf: (call: Call) => Place): Call[] {
  let readsAreOpen = false;
  let writeIsOpen = false;
  return calls.filter((call) => {
    const { isSettled, writes, isDenied } = placeOf(call);
    if (isSettled || writeIsOpen) return false;
    if (isDenied) return true;
    const mayBegin = !(writes && readsAreOpen);
    if (writes) writeIsOpen = true;
    else readsAreOpen = true;
    return mayBegin;
  });
}
