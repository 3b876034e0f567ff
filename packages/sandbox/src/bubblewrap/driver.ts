import { readFileSync } from 'node:fs';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { freezeDescendants, thawDescendants } from '../process/freeze.ts';
import type { Driver } from '../tree.ts';
import { type LaunchDeps, launch } from './launch.ts';
import { holdpointDirectory } from './mounts.ts';
import { findOrphans } from './orphans.ts';
import { walkUnreadableWith } from './walk-unreadable.ts';

export function bubblewrapDriver(input: Omit<LaunchDeps, 'scripts'>): Driver {
  const script = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const deps = { ...input, scripts: { launch: script('launch.sh'), remap: script('mount-remap.sh') } };
  return {
    name: 'bubblewrap',
    cgroupLimits: deps.cgroups?.limits ?? null,
    async release() {
      deps.pipes[Symbol.dispose]();
      await deps.cgroups?.settled();
    },
    start: (request) => launch(deps, request),
    findOrphans,
    freeze: (trees) => freezeDescendants(trees.flatMap(firstInside)),
    thaw: async (trees) => thawDescendants(trees.flatMap(firstInside)),
    walkUnreadable: deps.root ? undefined : walkUnreadableWith(deps.tools),
    root: () => '/workspace',
    node: `${holdpointDirectory}/node/bin/node`,
    ripgrep: `${holdpointDirectory}/bin/rg`,
    toolHost: `${holdpointDirectory}/inside/tool-host/main.ts`,
  };
}

/** The sandbox's first process, which reaps the others. A tree recorded without it is still in its set-up and waits there. */
function firstInside([, first]: readonly ProcessIdentity[]): ProcessIdentity[] {
  return first && isAlive(first) ? [first] : [];
}
