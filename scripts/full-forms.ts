import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mayHaveOne = ['packages/{engine,workspace}/src/**/*.test.ts', 'tests/runs/*.test.ts'];

/** Files that kill a process at every step, or try every case, in `npm run test:crash`, and at some in other suites. */
export const fullForms = globSync(mayHaveOne, { cwd: root })
  .filter((file) => /\bstride\b|HOLDPOINT_CRASH/.test(readFileSync(join(root, file), 'utf8')))
  .toSorted();

const parts = 5;
const today = Math.floor(Date.now() / 86_400_000);

/** `npm test` runs another fifth of these files each day. */
export const notToday = fullForms.filter((_, at) => at % parts !== today % parts);
