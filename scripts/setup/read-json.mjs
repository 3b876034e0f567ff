import fs from 'node:fs';

/**
 * @param {string} file
 * @returns {any} undefined when there is no such file or it is not JSON
 */
export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
