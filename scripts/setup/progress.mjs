import process from 'node:process';

/** Prints lines on standard error, with the seconds since the start. */
export function createProgress() {
  const start = Date.now();
  return (/** @type {string} */ text) => {
    process.stderr.write(`[setup ${((Date.now() - start) / 1000).toFixed(1).padStart(5)} s] ${text}\n`);
  };
}
