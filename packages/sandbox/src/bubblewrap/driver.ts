import type { Driver } from '../tree.ts';
import { INSIDE } from './equipment.ts';
import { type LaunchDeps, launch } from './launch.ts';
import { findOrphans } from './orphans.ts';

export function bubblewrapDriver(deps: LaunchDeps): Driver {
  return {
    name: 'bubblewrap',
    start: (request) => launch(deps, request),
    root: () => '/workspace',
    findOrphans,
    node: `${INSIDE}/node/bin/node`,
    ripgrep: `${INSIDE}/bin/rg`,
    toolHost: `${INSIDE}/inside/tool-host/main.ts`,
  };
}
