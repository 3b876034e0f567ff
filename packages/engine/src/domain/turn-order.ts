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
