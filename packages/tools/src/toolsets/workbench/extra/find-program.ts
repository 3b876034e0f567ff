import { FileError } from '@holdpoint/contract';
import type { ToolContext } from '../../../tool.ts';

type Look = Pick<ToolContext, 'files' | 'signal'>;

/** Whether the workspace has a file. */
async function hasFile({ files, signal }: Look, path: string): Promise<boolean> {
  try {
    return (await files.stat(path, {}, signal)).type === 'file';
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
}

/** The first program of the list whose mark is in the workspace. */
export async function firstWithMark<Choice extends { marks: readonly string[] }>(
  look: Look,
  choices: readonly Choice[],
): Promise<Choice | undefined> {
  for (const choice of choices) {
    for (const mark of choice.marks) if (await hasFile(look, mark)) return choice;
  }
  return undefined;
}
