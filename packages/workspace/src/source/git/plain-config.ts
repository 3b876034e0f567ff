import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Repository } from './repository.ts';

export interface OpenFile extends Disposable {
  fd: number;
  bytes: number;
}

/**
 * Opens a plain file of a repository for this process. Undefined for links, pipes and missing files, and wherever git, which runs as the
 * owner of the repository, might not be allowed to read the file: then git has to answer.
 */
export function openOwned(path: string, as: Repository['as']): OpenFile | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const status = fstatSync(fd);
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  const isOpenToOwner =
    as === undefined || (isOf(as, status, 0o400) && folder !== undefined && isOf(as, folder, 0o100));
  if (isOpenToOwner && status.isFile()) return { fd, bytes: status.size, [Symbol.dispose]: () => closeSync(fd) };
  closeSync(fd);
  return undefined;
}

const isOf = ({ uid }: { uid: number }, status: { uid: number; mode: number }, bit: number): boolean =>
  status.uid === uid && (status.mode & bit) !== 0;

/** The last value of each setting; names in git's own form: `section.subsection.key`, with section and key in lower case. */
export type PlainConfig = ReadonlyMap<string, string>;

/** A configuration is a page long. Bytes. */
const largest = 64 * 1024;

/**
 * Reads the configuration of a repository in this process, which starts no program. Undefined where git has to read the file: quotes,
 * escapes, comments behind a value, included files, a configuration of the work tree, and a file that the user of git may not read.
 */
export function readPlainConfig({ common, as }: Pick<Repository, 'common' | 'as'>): PlainConfig | undefined {
  using file = openOwned(join(common, 'config'), as);
  return file === undefined || file.bytes > largest ? undefined : parsePlain(readFileSync(file.fd, 'latin1'));
}

/** The lines that mean the same to every reader. */
const lines = {
  blank: /^[ \t]*(?:[#;].*)?$/,
  section: /^[ \t]*\[([A-Za-z0-9-]+)(?: "([^"\\\n]*)")?\][ \t]*$/,
  setting: /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=[ \t]*((?:[^\s"\\#;](?:[^"\\#;]*[^\s"\\#;])?)?)[ \t]*$/,
} as const;

export function parsePlain(text: string): PlainConfig | undefined {
  if (/[^\t\n\x20-\x7e\x80-\xff]/.test(text) || text.startsWith('\xef\xbb\xbf')) return undefined;
  const found = new Map<string, string>();
  let section: string | undefined;
  for (const line of text.split('\n')) {
    if (lines.blank.test(line)) continue;
    const header = lines.section.exec(line);
    const setting = lines.setting.exec(line);
    if (header !== null) section = nameOf(header[1] ?? '', header[2]);
    else if (setting !== null && section !== undefined)
      found.set(`${section}.${(setting[1] ?? '').toLowerCase()}`, setting[2] ?? '');
    else return undefined;
  }
  return [...found.keys()].some((name) => elsewhere.test(name)) ? undefined : found;
}

const nameOf = (name: string, below: string | undefined): string =>
  below === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${below}`;

/** Settings that lead git to other files. */
const elsewhere = /^(?:include\.|includeif\.|extensions\.worktreeconfig$)/;

/** Undefined where git has to read the value. */
export function plainBoolean(config: PlainConfig | undefined, name: string): boolean | undefined {
  if (config === undefined) return undefined;
  const value = config.get(name);
  if (value === undefined) return false;
  return value === 'true' ? true : value === 'false' ? false : undefined;
}
