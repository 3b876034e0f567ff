import type { Logger } from '@holdpoint/engine';

/** For calls that also throw what they would log. */
export const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
