import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CliError, type Config } from './shell/index.ts';

type Settings = Pick<Config, 'environment'>;

const fileSchema = z.record(z.string(), z.object({ token: z.string(), name: z.string().optional() }));
type Saved = z.infer<typeof fileSchema>;

/** The logins of this user, by the address of the API. They belong to the person, and to no data directory. */
function fileOf({ environment }: Settings): string {
  const home = environment.XDG_CONFIG_HOME ?? join(environment.HOME ?? '/', '.config');
  return join(home, 'holdpoint', 'logins.json');
}

/** @throws CliError `key_file_open` */
export const savedLogin = (settings: Settings, url: string): string | undefined =>
  read(fileOf(settings))[keyOf(url)]?.token;

export function saveLogin(settings: Settings, url: string, login: Saved[string]): string {
  const file = fileOf(settings);
  write(file, { ...read(file), [keyOf(url)]: login });
  return file;
}

/** @returns false when there was none */
export function forgetLogin(settings: Settings, url: string): boolean {
  const file = fileOf(settings);
  const { [keyOf(url)]: gone, ...rest } = read(file);
  if (gone === undefined) return false;
  if (Object.keys(rest).length === 0) rmSync(file);
  else write(file, rest);
  return true;
}

const keyOf = (url: string): string => new URL(url).origin;

function read(file: string): Saved {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return {};
  if ((mode & 0o077) !== 0) throw new CliError('key_file_open', `Other users may read the logins in ${file}.`);
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    const next = `Remove ${file}, and run holdpoint login again.`;
    throw new CliError('usage', `${file} holds no logins.`, { cause, next });
  }
}

function write(file: string, saved: Saved): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, file);
}
