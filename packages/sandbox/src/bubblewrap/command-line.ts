import { descriptors } from './descriptors.ts';
import { INSIDE } from './equipment.ts';

/**
 * bash that takes nothing from the host: no functions or variables (`-p`), and no ~/.bashrc, which it reads without being asked where its
 * standard input is a socket, as Node's pipes are.
 */
export const QUIET_BASH = ['--norc', '-p'];

/** What follows bubblewrap's name in every sandbox. */
export const BWRAP_ARGUMENTS = [
  '--args',
  String(descriptors.options),
  '--',
  '/bin/bash',
  ...QUIET_BASH,
  `${INSIDE}/inside/enter.sh`,
];

/** How /proc/PID/cmdline of every sandbox's bubblewrap begins; launch.sh gives it the name. */
export const COMMAND_LINE = `${['bwrap', ...BWRAP_ARGUMENTS].join('\0')}\0`;
