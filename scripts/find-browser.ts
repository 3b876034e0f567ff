import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** HOLDPOINT_CHROMIUM, a Chromium on PATH, or the one that the set-up unpacked. */
export function findBrowser(): { path: string } | { missing: string } {
  const named = process.env.HOLDPOINT_CHROMIUM;
  if (named !== undefined)
    return isProgram(named) ? { path: named } : { missing: `HOLDPOINT_CHROMIUM is no program: ${named}` };
  const folders = (process.env.PATH ?? '').split(delimiter);
  const onPath = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const path = [...onPath, fileURLToPath(new URL('../.cache/browser/bin/chromium', import.meta.url))].find(isProgram);
  if (path !== undefined) return { path };
  return {
    missing: 'this machine has no Chromium, and the set-up could unpack none. HOLDPOINT_CHROMIUM may name one.',
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
