/** A callback that says whether to stop, and whether it has said so. */
export interface Deadline {
  check: () => boolean;
  readonly isOver: boolean;
}

/** On a busy machine a file may wait this many times longer than it may work. */
const patience = 4;

/** Counts the time that the process works, so that a busy machine parses the same files as an idle one. */
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
