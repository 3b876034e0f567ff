import { relativePath } from '../../operations/touched.ts';
import type { RyanSettings } from './settings.ts';

/** Whether a real path, relative to the workspace root, lies in a directory permitted by the settings. */
export const isAllowed = (path: string, { directories }: RyanSettings): boolean =>
  directories.map(relativePath).some((one) => one === '.' || path === one || path.startsWith(`${one}/`));

/** The error of the contract for a path elsewhere. */
export const notAllowed = (path: string, { directories }: RyanSettings) => ({
  code: 'EPATHNOTALLOWED',
  message: `security: ${path} is not in an allowed directory`,
  next: `Stay in ${directories.join(', ')}.`,
});
