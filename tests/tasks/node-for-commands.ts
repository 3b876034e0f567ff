import { dirname } from 'node:path';

/**
 * The setting by which commands of runs find the Node that runs Holdpoint: an older Node of the machine does not run TypeScript, and commands
 * get Holdpoint's own Node only on a machine without another.
 */
export function nodeForCommands(): Record<string, string> {
  const folder = dirname(dirname(process.execPath));
  return folder.startsWith('/usr') ? {} : { HOLDPOINT_TOOLCHAINS: folder };
}
