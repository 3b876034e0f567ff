import type { InstructionFile } from '@holdpoint/contract';
import type { Workspaces } from '@holdpoint/workspace';
import { listedName } from '../quoted.ts';
import { fenced, readable } from './fenced.ts';
import { type FoundFile, findFiles, type Reading } from './find-files.ts';

const mostListed = 100;
/** A file is left out when the room is below this many bytes and would cut the file. */
const smallest = 500;
const largest = { atRoot: 32 * 1024, imported: 16 * 1024, nested: 4 * 1024 };
/** Files in folders together: a model reads the others when it works in their folders. */
const mostNested = 16 * 1024;

/**
 * The texts of a repository's files with instructions for agents, fenced as data. Files in folders come whole while they are few, and by
 * their names from then on.
 * @param reading.most bytes of all texts together
 */
export async function readInstructionFiles(
  workspaces: Pick<Workspaces, 'contents'>,
  reading: Reading & { most: number },
): Promise<{ files: InstructionFile[]; text: string }> {
  const { found, others } = await findFiles(workspaces, reading);
  let left = reading.most;
  let leftNested = mostNested;
  const files: InstructionFile[] = [];
  const texts: string[] = [];
  const show = ({ path, bytes, content, by, imports }: FoundFile, isNested: boolean): void => {
    const bound = by !== undefined ? largest.imported : isNested ? largest.nested : largest.atRoot;
    const room = Math.min(left, bound, ...(isNested ? [leftNested] : []));
    const { text, cut } = readable(content, bytes, room);
    files.push({ path, bytes, ...(cut > 0 && { cut }), ...(by !== undefined && { imported_by: by }) });
    if (room < smallest && cut > 0) others.push(path);
    else {
      left -= Buffer.byteLength(text);
      if (isNested) leftNested -= Buffer.byteLength(text);
      texts.push(fenced(path, text, { bytes, cut }));
    }
    for (const one of imports) show(one, isNested);
  };
  for (const file of found) show(file, file.path.includes('/'));
  const named = others.slice(0, mostListed).map(listedName);
  if (named.length > 0) texts.push(`Read these before you work in their folders: ${named.join(', ')}`);
  return { files, text: texts.join('\n\n') };
}
