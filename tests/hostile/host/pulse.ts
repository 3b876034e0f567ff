/** Watches from a timer whether this process still gets its turns. */
export function startPulse() {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 20);
  return {
    /** The longest time without a turn, in milliseconds. */
    stop(): number {
      clearInterval(timer);
      return Math.max(longest, performance.now() - last);
    },
  };
}
