import { WorkspaceError } from '../errors.ts';
import { type BytePath, fromText } from '../files/path-name.ts';

/** A path of the port as bytes. It names something in a tree object, so it cannot lead anywhere; one that tries to is a mistake. */
export function checkedPath(path: string): BytePath {
  const bytes = fromText(path);
  const names = bytes.split('/').filter((name) => name !== '' && name !== '.');
  if (bytes.startsWith('/') || bytes.includes('\0') || names.includes('..')) {
    throw new WorkspaceError('EPATHINVALID', `${JSON.stringify(path)} does not lie in the workspace.`);
  }
  return names.join('/');
}
