import { holdpointDirectory } from './mounts.ts';

/** Numbers of the file descriptors that bubblewrap inherits beside stdio. */
export const inheritedFds = {
  /** bubblewrap reads its options here, NUL-terminated. Other users of the host can read arguments, but not this pipe. */
  options: 3,
  /** bubblewrap reads the system call filter here. */
  filter: 4,
  /** bubblewrap writes its status lines here for the worker: JSON, the exit code among them. */
  status: 5,
  /** bubblewrap reads the command's standard input here. */
  input: 6,
  /** bubblewrap reads the certificates that the command trusts here. */
  certificates: 7,
  /** enter.sh reads the command and its environment here, which the worker writes when the sandbox is ready. */
  control: 8,
  /**
   * The same pipe as `status`, for enter.sh: it says that it is ready. The fds above this one are control group files that enter.sh writes to
   * and closes.
   */
  words: 9,
} as const;

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

const argumentsText = `${bwrapArguments.join('\0')}\0`;

/** Whether /proc/PID/cmdline is that of a sandbox's bubblewrap. Its name is the path of the program behind a remap. */
export function isBwrapCommandLine(text: string): boolean {
  return text.startsWith(argumentsText, text.indexOf('\0') + 1);
}
