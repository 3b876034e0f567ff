import { INSIDE } from './equipment.ts';

/** The descriptor from which bubblewrap reads its options. */
export const ARGUMENTS = 3;

/** What every sandbox starts with. Its other options come through a descriptor: arguments are there for every user to see. */
export const BWRAP_ARGUMENTS = ['--args', String(ARGUMENTS), '--', '/bin/bash', '-p', `${INSIDE}/inside/enter.sh`];
/** How /proc/PID/cmdline of bubblewrap begins, whose name launch.sh sets. */
export const COMMAND_LINE = `${['bwrap', ...BWRAP_ARGUMENTS].join('\0')}\0`;

