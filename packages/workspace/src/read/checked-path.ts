import { WorkspaceError } from '../errors.ts';
import { type BytePath, fromText } from '../files/index.ts';

/** Parses a path of the port. Paths only name entries of tree objects, so a path that leads out is a mistake, not an attack. */
export function checkedPath(path: string): BytePath {
  const bytes = fromText(path);
  const names = bytes.split('/').filter((name) => name !== '' && name !== '.');
  if (bytes.startsWith('/') || bytes.includes('\0') || names.includes('..')) {
    throw new WorkspaceError('EPATHINVALID', `${JSON.stringify(path)} is not inside the workspace.`);
  }
  return names.join('/');
}
