/** A callback with the decision to stop, and the record of this decision. */
export interface Deadline {
  check: () => boolean;
  readonly isOver: boolean;
}

/** On a busy machine a file may wait for this multiple of its work time. */
const patience = 4;

/** Counts the processor time of the process, so a busy machine parses the same files as an idle machine. */
export function startDeadline(timeoutMs: number): Deadline {
  const start = performance.now();
  const worked = workedMs();
  let isOver = false;
  return {
    check: () => {
      const passed = performance.now() - start;
      isOver ||= passed > timeoutMs && (passed > patience * timeoutMs || workedMs() - worked > timeoutMs);
      return isOver;
    },
    get isOver() {
      return isOver;
    },
  };
}

function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
