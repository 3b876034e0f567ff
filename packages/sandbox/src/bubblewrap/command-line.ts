import { inheritedFds } from './inherited-fds.ts';
import { holdpointDirectory } from './mounts.ts';

/**
 * Options that keep bash from reading the host's settings: functions and variables (`-p`), and ~/.bashrc, which bash reads when its
 * standard input is a socket. Node's pipes are sockets.
 */
export const quietBash = ['--norc', '-p'];

/** Arguments of bubblewrap, the same in every sandbox. */
export const bwrapArguments = [
  '--args',
  String(inheritedFds.options),
  '--',
  '/bin/bash',
  ...quietBash,
  `${holdpointDirectory}/inside/enter.sh`,
];

/** Prefix of /proc/PID/cmdline for every sandbox's bubblewrap. launch.sh sets the name. */
export const bwrapCommandLine = `${['bwrap', ...bwrapArguments].join('\0')}\0`;
