import type { Logger } from '@holdpoint/engine/ports';

/** For library calls whose failures reach us as errors anyway. */
export const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
