/** A clock that jumps to the next thing that is due once nothing is under way. Real I/O takes none of its time. */
export function openVirtualTime(start: number) {
  const due: { at: number; resolve(): void }[] = [];
  let [now, busy] = [start, 0];
  const idle = new Set<() => void>();
  const end = (): void => {
    busy -= 1;
    if (busy === 0) for (const resolve of idle) resolve();
  };
  return {
    now: () => now,
    /** Counts as under way until it ends or sleeps. */
    during<Result>(act: () => Promise<Result>): Promise<Result> {
      busy += 1;
      return act().finally(end);
    },
    async sleep(ms: number): Promise<void> {
      const slept = new Promise<void>((resolve) => due.push({ at: now + ms, resolve }));
      end();
      await slept;
    },
    /** Runs until `isOver`, or nothing is due. @param next when something outside is due, which `act` begins */
    async run(next: () => number | undefined, act: () => void, isOver: () => boolean): Promise<void> {
      while (!isOver()) {
        if (busy > 0) await new Promise<void>((resolve) => idle.add(resolve)).finally(() => idle.clear());
        due.sort((a, b) => a.at - b.at);
        const times = [due[0]?.at, next()].filter((at) => at !== undefined);
        if (times.length === 0) return;
        now = Math.max(now, Math.min(...times));
        while (due[0] !== undefined && due[0].at <= now) {
          busy += 1;
          due.shift()?.resolve();
        }
        act();
      }
    },
  };
}
