import { readFileSync } from 'node:fs';

export { findHostTools } from '../bubblewrap/host-tools.ts';
export { planMountRemap } from '../bubblewrap/mount-remap.ts';
export { isDotGit } from '../inside/tool-host/dot-git.ts';
export { bwrapPath } from './bwrap-path.ts';

/** Text of the script that binds the sources of a `MountRemap`. */
export const remapScript = readFileSync(new URL('../bubblewrap/mount-remap.sh', import.meta.url), 'utf8');
