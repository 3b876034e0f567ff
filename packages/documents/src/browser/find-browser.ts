import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';

/** A Chromium for the sandboxes of runs. */
export interface FoundBrowser {
  /** Its path on this machine. */
  path: string;
  /** Its path in a sandbox. */
  inside: string;
  /** A folder that the sandbox needs in addition to the system's own. */
  mount?: { host: string; inside: string };
}

export interface BrowserSearch {
  /** The operator's choice: a path, or `none`. */
  named?: string | undefined;
  /** PATH of the process. */
  path: string;
  /** Where the set-up of a checkout unpacks one. */
  projectDir: string;
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const insideFolder = '/opt/holdpoint/browser';

/** The operator's Chromium, one on PATH, or the one of the set-up; undefined when there is none. A named one that is none counts as none. */
export function findBrowser({ named, path, projectDir }: BrowserSearch): FoundBrowser | undefined {
  const onPath = path.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  if (named === 'none') return undefined;
  const candidates = named === undefined ? [...onPath, join(projectDir, '.cache/browser/bin/chromium')] : [named];
  const found = candidates.find(isProgram);
  return found === undefined ? undefined : placeInside(found);
}

/** Sandboxes see /usr. Any other browser is a folder of its own, with its libraries beside it. */
function placeInside(path: string): FoundBrowser {
  const real = realpathSync(path);
  if (real.startsWith('/usr/')) return { path, inside: real };
  const folder = dirname(real);
  const isInBin = basename(folder) === 'bin';
  const host = isInBin ? dirname(folder) : folder;
  return { path, inside: join(insideFolder, real.slice(host.length)), mount: { host, inside: insideFolder } };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
