/** Scripts rely on these numbers. */
export const exitCodes = {
  ok: 0,
  /** The run failed, or the command itself could not do its work. */
  failed: 1,
  usage: 2,
  /** The run was canceled, or its approval expired. */
  canceled: 3,
  auth: 4,
  /** The run waits for a decision or is paused. */
  waiting: 5,
  timeout: 6,
  not_found: 7,
  conflict: 8,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
