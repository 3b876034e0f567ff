/** Descriptors of bubblewrap beyond stdio, by who reads them. launch.sh closes all that are higher. */
export const descriptors = {
  /** bubblewrap: its options, NUL-terminated. Unlike arguments they are not there for every user to see. */
  options: 3,
  /** bubblewrap: the system call filter. */
  filter: 4,
  /** The worker: bubblewrap's JSON lines. */
  status: 5,
  /** enter.sh, both ways: it says that it is ready, the worker answers with the environment, NUL-terminated and ended by an empty record. */
  lifeline: 6,
} as const;

export const HIGHEST_DESCRIPTOR = 6;
