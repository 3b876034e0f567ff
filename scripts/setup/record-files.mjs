import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/**
 * `unpacked.json` holds the hash and the mode of each unpacked program and library, by path. The sandbox compares them before each use of
 * bubblewrap, because commands run as the owner of the unpacked files.
 */
const name = 'unpacked.json';

/** @param {string} directory */
export function writeRecord(directory) {
  fs.writeFileSync(path.join(directory, name), `${JSON.stringify(describe(directory), null, 2)}\n`, { mode: 0o644 });
}

/** @param {string} directory */
export function isAsRecorded(directory) {
  try {
    const recorded = JSON.parse(fs.readFileSync(path.join(directory, name), 'utf8'));
    return JSON.stringify(recorded) === JSON.stringify(describe(directory));
  } catch {
    return false;
  }
}

/**
 * A launcher script is included; a launcher link is skipped.
 *
 * @param {string} directory
 */
function describe(directory) {
  const files = ['bin', 'usr', 'lib'].flatMap((part) => filesBelow(path.join(directory, part))).sort();
  return Object.fromEntries(
    files.map((file) => {
      const sha256 = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
      return [path.relative(directory, file), { sha256, mode: fs.statSync(file).mode & 0o7777 }];
    }),
  );
}

/**
 * @param {string} directory
 * @returns {string[]}
 */
function filesBelow(directory) {
  if (!fs.existsSync(directory)) return [];
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return filesBelow(file);
    return entry.isFile() ? [file] : [];
  });
}
