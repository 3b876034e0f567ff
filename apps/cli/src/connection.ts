import { readFileSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { copyTexts, originalOf } from '@holdpoint/process/home';
import { savedLogin } from './saved-logins.ts';
import { CliError, type Config } from './shell/index.ts';
import { findSystem } from './system/index.ts';

export const keyFileOf = (config: Pick<Config, 'dataDir'>): string => join(config.dataDir, 'api-key');

/**
 * The address of the API: as given, HOLDPOINT_URL, the running system of the data directory, or the API's settings. The key is HOLDPOINT_KEY,
 * the login of `holdpoint login` at this address, or the data directory's.
 *
 * @throws CliError `usage`, `no_key`, `key_file_open`, `installation_copied`
 */
export function findConnection(config: Config, given?: string): { url: string; key: string } {
  if (given !== undefined && !(URL.canParse(given) && /^https?:/.test(given))) {
    throw new CliError('usage', `--url takes an address such as ${config.localUrl}, not ${given}`);
  }
  // With an address and a key of its own, the command uses nothing of the data directory.
  const usesData = config.key === undefined || (given ?? config.url) === undefined;
  if (usesData) refuseCopiedData(config.dataDir);
  const running = findSystem(config.dataDir)?.address;
  const url = given ?? config.url ?? running ?? config.localUrl;
  const login = config.key === undefined ? savedLogin(config, url) : undefined;
  const key = config.key ?? login;
  if (key === undefined && url !== running && url !== config.localUrl && !isHere(url)) {
    throw new CliError('no_key', `HOLDPOINT_KEY is not set, and ${url} is another machine.`, {
      next: 'Run holdpoint login, or set HOLDPOINT_KEY to a key of the system at this address.',
    });
  }
  return { url: url.replace(/\/+$/, ''), key: key ?? readKey(keyFileOf(config)) };
}

/** A copied key, and the usual address, lead to the original. */
function refuseCopiedData(dataDir: string): void {
  const original = originalOf(dataDir);
  if (original === undefined) return;
  const { message, next } = copyTexts(dataDir, original);
  throw new CliError('installation_copied', message, { next });
}

/** Another machine must not see the key of this data directory. */
function isHere(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
}

/** @throws CliError `no_key`, `key_file_open` */
export function readKey(file: string): string {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) {
    throw new CliError('no_key', `There is no key: HOLDPOINT_KEY is not set, and ${file} does not exist.`);
  }
  if ((mode & 0o077) !== 0) throw new CliError('key_file_open', `Other users may read the key in ${file}.`);
  return readFileSync(file, 'utf8').trim();
}
