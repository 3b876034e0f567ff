import fs from 'node:fs';

/**
 * @param {string} file
 * @returns {any} undefined for a missing file or any text but JSON
 */
export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
