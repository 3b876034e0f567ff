/** A delay of the event loop, in milliseconds. */
export interface LoopDelay {
  /** How late the loop returned to its timers. Everything else in this process waited for so long. */
  late_ms: number;
  /** The computing part of the delay. In the rest of the delay the thread waited for a disk or a processor. */
  busy_ms: number;
}

export interface LoopWatch {
  /** The worst delay of the last minute or two. */
  worst(): LoopDelay;
  stop(): void;
}

interface Options {
  /** Called after each overlong delay. */
  onLate: (delay: LoopDelay) => void;
  /** @default 100 ms of computing */
  busyMs?: number;
  /** @default 1000 ms, whatever the reason */
  lateMs?: number;
}

const everyMs = 20;
const keptMs = 60_000;

/**
 * Measures how late a timer is. A timer is also late when the machine is busy, so the watch measures the processor time of this thread
 * since the last turn, too (getrusage): a delay is busy only while this thread computes. A process in a stop or in a wait for a processor
 * is late and not busy.
 */
export function watchLoop({ onLate, busyMs = 100, lateMs = 1000 }: Options): LoopWatch {
  let due = performance.now() + everyMs;
  let used = threadMs();
  let [recent, before] = [none, none];
  let turned = performance.now();
  const look = () => {
    const now = performance.now();
    const cpu = threadMs();
    const late = Math.max(0, now - due);
    const delay = { late_ms: Math.round(late), busy_ms: Math.round(Math.min(late, cpu - used)) };
    if (now - turned > keptMs) {
      [before, recent] = [recent, none];
      turned = now;
    }
    recent = worse(recent, delay);
    if (delay.busy_ms > busyMs || delay.late_ms > lateMs) onLate(delay);
    // The time of the report does not count.
    due = performance.now() + everyMs;
    used = threadMs();
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return { worst: () => worse(recent, before), stop: () => clearInterval(timer) };
}

const none: LoopDelay = { late_ms: 0, busy_ms: 0 };

const worse = (a: LoopDelay, b: LoopDelay): LoopDelay => ({
  late_ms: Math.max(a.late_ms, b.late_ms),
  busy_ms: Math.max(a.busy_ms, b.busy_ms),
});

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
