/** Descriptors of bubblewrap beyond stdio, by who reads them. */
export const descriptors = {
  /** bubblewrap: its options, NUL-terminated. Unlike arguments they are not there for every user to see. */
  options: 3,
  /** bubblewrap: the system call filter. */
  filter: 4,
  /** The worker: bubblewrap's JSON lines. */
  status: 5,
  /** bubblewrap: what the command reads as its standard input. */
  input: 6,
  /**
   * enter.sh, both ways: it says that it is ready, the worker answers with the command and its environment. Those above are doors of
   * control groups, which enter.sh goes through and closes.
   */
  lifeline: 7,
} as const;
