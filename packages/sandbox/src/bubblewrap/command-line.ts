import { holdpointDirectory } from './mounts.ts';

/** Numbers of the file descriptors inherited by bubblewrap, in addition to stdio. */
export const inheritedFds = {
  /** bubblewrap reads its options here, NUL-terminated. Other users of the host can read arguments, but not this pipe. */
  options: 3,
  /** bubblewrap reads the system call filter here. */
  filter: 4,
  /** bubblewrap writes its status lines here for the worker: JSON, the exit code among them. */
  status: 5,
  /** bubblewrap reads the command's standard input here. */
  input: 6,
  /** bubblewrap reads the command's trusted certificates here. */
  certificates: 7,
  /** enter.sh reads the command and its environment here. The worker writes both when the sandbox is ready. */
  control: 8,
  /**
   * The same pipe as `status`, for enter.sh to report `ready`. The fds above are control group files. enter.sh writes to these files and
   * closes them.
   */
  words: 9,
} as const;

/**
 * Options to keep bash from reading the host's settings: functions and variables (`-p`), and ~/.bashrc. bash reads ~/.bashrc when its
 * standard input is a socket, and Node's pipes are sockets.
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

const argumentsText = `${bwrapArguments.join('\0')}\0`;

/**
 * Whether a text of /proc/PID/cmdline belongs to a sandbox's bubblewrap. Compares the arguments only: behind a remap argument 0 is a path
 * instead of `bwrap`.
 */
export function isBwrapCommandLine(text: string): boolean {
  return text.startsWith(argumentsText, text.indexOf('\0') + 1);
}
