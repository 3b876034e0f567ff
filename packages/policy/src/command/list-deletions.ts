import type { CommandPath, SimpleCommand } from './simple-command.ts';
import { defaultCommandTable } from './table/default-table.ts';

/** The deletions of a command outside of build folders. An unknown path counts. */
export function listDeletions(
  { paths }: SimpleCommand,
  buildFolders: readonly string[] = defaultCommandTable.paths.buildFolders,
): CommandPath[] {
  return paths.filter(({ path, access, known }) => {
    if (access !== 'delete') return false;
    if (!known || path.startsWith('/') || path.startsWith('~') || path.startsWith('../')) return true;
    const names = path.split('/');
    // `.*` and `.?` match `..` in bash before 5.2.
    if (names.some((name) => name.startsWith('.') && ['*', '?', '['].some((sign) => name.includes(sign)))) return true;
    return !names.some((name) => buildFolders.includes(name));
  });
}
