import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { Refusal } from './protocol.ts';

export interface Resolved {
  /** Absolute. The existing part has no symbolic links. */
  path: string;
  /** Null when the path does not exist. */
  stats: Stats | null;
}

/** How a path is resolved. */
interface ResolveOptions {
  /** false: do not follow a link at the end of the path. @default true */
  follow?: boolean;
}

/** As in Linux. */
const maxLinks = 40;
const maxNameBytes = 255;
const maxPathBytes = 4096;

/**
 * Resolves a path name by name. Links may lead anywhere inside the root. The check gives clear refusals. The sandbox gives the protection:
 * the sandbox has no files outside the workspace, so a path replaced after the check leads nowhere.
 *
 * @param input relative to the root, or starting with the root or `/workspace`
 */
export function resolve(root: string, input: string, { follow = true }: ResolveOptions = {}): Resolved {
  checkText(input);
  const names = relativeNames(root, input).reverse(); // the next name is at the end
  const walked: string[] = [];
  const here = () => [root, ...walked].join('/');
  let stats: Stats | null = lstatSync(root);
  let links = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (walked.pop() === undefined) throw outside();
      stats = lstatSync(here());
      continue;
    }
    walked.push(name);
    if (stats === null) continue; // the parent does not exist
    stats = lstatSync(here(), { throwIfNoEntry: false }) ?? null;
    const isLast = names.every((rest) => rest === '' || rest === '.');
    if (stats?.isSymbolicLink() && !(isLast && !follow)) {
      if (++links > maxLinks) throw new Refusal('ELOOP', 'too many symbolic links');
      const target = readlinkSync(here());
      walked.pop();
      if (target.startsWith('/')) walked.length = 0;
      names.push(...relativeNames(root, target).reverse());
      stats = lstatSync(here());
    } else if (stats && !stats.isDirectory() && !isLast) {
      throw new Refusal('ENOTDIR', `${walked.join('/')} is not a directory`);
    }
  }
  return { path: here(), stats };
}

function relativeNames(root: string, path: string): string[] {
  if (!path.startsWith('/')) return path.split('/');
  for (const prefix of [root, '/workspace']) {
    if (path === prefix || path.startsWith(`${prefix}/`)) return path.slice(prefix.length + 1).split('/');
  }
  throw outside();
}

function checkText(path: string): void {
  if (path === '') throw new Refusal('EINVAL', 'the path is empty');
  if (path.includes('\0')) throw new Refusal('EINVAL', 'the path contains a NUL byte');
  if (!path.isWellFormed()) throw new Refusal('EINVAL', 'the path is not valid Unicode');
  const tooLong = path.split('/').some((name) => Buffer.byteLength(name) > maxNameBytes);
  if (tooLong || Buffer.byteLength(path) > maxPathBytes) throw new Refusal('ENAMETOOLONG', 'the name is too long');
}

function outside(): Refusal {
  return new Refusal('EOUTSIDE', 'it leads outside the workspace');
}
