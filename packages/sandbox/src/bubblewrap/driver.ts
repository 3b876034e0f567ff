import { readFileSync } from 'node:fs';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { stopBelow, wakeBelow } from '../process/standstill.ts';
import type { Driver } from '../tree.ts';
import { INSIDE } from './equipment.ts';
import { type LaunchDeps, launch } from './launch.ts';
import { findOrphans } from './orphans.ts';
import { walkClosedWith } from './walk-closed.ts';

export function bubblewrapDriver(input: Omit<LaunchDeps, 'scripts'>): Driver {
  const script = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const deps = { ...input, scripts: { launch: script('launch.sh'), view: script('view.sh') } };
  return {
    name: 'bubblewrap',
    held: deps.cgroups?.held ?? null,
    async release() {
      deps.pipes[Symbol.dispose]();
      await deps.cgroups?.settled();
    },
    start: (request) => launch(deps, request),
    findOrphans,
    freeze: (trees) => stopBelow(trees.flatMap(firstInside)),
    thaw: async (trees) => wakeBelow(trees.flatMap(firstInside)),
    ...(deps.root ? {} : { walkClosed: walkClosedWith(deps.tools) }),
    root: () => '/workspace',
    node: `${INSIDE}/node/bin/node`,
    ripgrep: `${INSIDE}/bin/rg`,
    toolHost: `${INSIDE}/inside/tool-host/main.ts`,
  };
}

/** Who adopts and reaps everything inside, and runs nothing itself. A tree that is recorded without it waits at its start. */
function firstInside([, inner]: readonly ProcessIdentity[]): ProcessIdentity[] {
  return inner && isAlive(inner) ? [inner] : [];
}
