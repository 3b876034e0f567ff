import { descriptors } from './descriptors.ts';
import { INSIDE } from './equipment.ts';

/** What follows bubblewrap's name in every sandbox. */
export const BWRAP_ARGUMENTS = [
  '--args',
  String(descriptors.options),
  '--',
  '/bin/bash',
  '-p',
  `${INSIDE}/inside/enter.sh`,
];

/** How /proc/PID/cmdline of every sandbox's bubblewrap begins; launch.sh gives it the name. */
export const COMMAND_LINE = `${['bwrap', ...BWRAP_ARGUMENTS].join('\0')}\0`;
