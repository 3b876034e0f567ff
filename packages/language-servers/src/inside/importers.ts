import { readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { root } from './text-file.ts';

/** Bounds of a search: an edit waits for it. */
const most = { files: 2000, bytes: 256 * 1024, found: 10, ms: 300 };

/** Lines that bring names from other files, in the languages of the servers. */
const importing = /\b(?:import|export|from|require|use|mod)\b|^\s*(?:\w+\s+)?"[^"]*"\s*$/;

/**
 * Files that seem to import one of the changed files, by their texts: those of the same folder first, at most ten. A wrong guess costs one look
 * of the server at a file.
 * @param files all files of the server's languages, absolute
 * @param changed paths relative to the workspace
 */
export function importersOf(files: readonly string[], changed: readonly string[]): string[] {
  const since = performance.now();
  const names = [...new Set(changed.map(nameOf))].map(
    (name) => new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`),
  );
  const own = new Set(changed.map((path) => posix.resolve(root, path)));
  const folders = new Set([...own].map((path) => posix.dirname(path)));
  const isNear = (path: string) => folders.has(posix.dirname(path));
  const others = files.filter((path) => !own.has(path));
  const ordered = [...others.filter(isNear), ...others.filter((path) => !isNear(path))].slice(0, most.files);
  const found: string[] = [];
  for (const path of ordered) {
    if (found.length === most.found || performance.now() - since > most.ms) break;
    if (linesOf(path).some((line) => importing.test(line) && names.some((name) => name.test(line)))) found.push(path);
  }
  return found.map((path) => posix.relative(root, path));
}

/** The name by which other files import a file: a file that stands for its folder has the name of the folder. */
function nameOf(path: string): string {
  const { name, dir } = posix.parse(path);
  const isFolder = /^(?:index|__init__|mod|lib|main)$/.test(name) && dir !== '';
  return isFolder ? posix.basename(dir) : name.replace(/\.d$/, '');
}

function linesOf(path: string): string[] {
  try {
    return statSync(path).size > most.bytes ? [] : readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
