/**
 * Says a text at once, and again every few seconds with the passed time: a waiting set-up is never silent for long.
 *
 * @param {(text: string) => void} progress
 * @param {number} [everyMs]
 * @returns {(text: string) => void} called at each look
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
