import fs from 'node:fs';
import path from 'node:path';

/**
 * The first executable file of this name on PATH, or undefined.
 *
 * @param {import('./machine.mjs').WithEnvironment} machine
 * @param {string} name
 */
export function findProgram({ env }, name) {
  return (env.PATH ?? '')
    .split(path.delimiter)
    .filter(path.isAbsolute)
    .map((directory) => path.join(directory, name))
    .find(isExecutable);
}

/** @param {string} file */
export function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
