/**
 * Says a text at once, and again every few seconds with the time that has passed: a set-up that waits is never silent for long.
 *
 * @param {(text: string) => void} progress
 * @param {number} [everyMs]
 * @returns {(text: string) => void} call it as often as you look
 */
export function createReminder(progress, everyMs = 4000) {
  const begun = Date.now();
  let next = begun;
  return (text) => {
    const now = Date.now();
    if (now < next) return;
    progress(next === begun ? text : `${text}: ${Math.round((now - begun) / 1000)} s so far`);
    next = now + everyMs;
  };
}
