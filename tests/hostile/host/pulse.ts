/** Measures the delay of this process's event loop. */
export function startPulse() {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 20);
  return {
    /** Returns the longest delay in milliseconds. */
    stop(): number {
      clearInterval(timer);
      return Math.max(longest, performance.now() - last);
    },
  };
}
