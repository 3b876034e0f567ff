/** What decides when a call may start. */
export interface CallState {
  isSettled: boolean;
  /** The call may change the workspace, or anything else that other calls see. */
  writes: boolean;
  /** The call settles without running, so no call waits for it. */
  isDenied: boolean;
}

/**
 * The calls of a turn that may start now. Calls take effect as if they ran in the order in which they were written: neighbouring reads
 * start together, a write starts when every call before it is settled, and a read when every write before it is settled.
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
