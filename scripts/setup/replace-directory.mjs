import fs from 'node:fs';

/**
 * Moves a finished directory into place: no process sees half of the content.
 *
 * @param {string} fresh
 * @param {string} final
 */
export function replaceDirectory(fresh, final) {
  const old = `${final}.old`;
  fs.rmSync(old, { recursive: true, force: true });
  if (fs.existsSync(final)) fs.renameSync(final, old);
  fs.renameSync(fresh, final);
  fs.rmSync(old, { recursive: true, force: true });
}
