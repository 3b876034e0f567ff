import { FileError, type ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { previewEdit } from '../../operations/edit-file.ts';
import { changedPaths, pathArgument, relativePath, touchedPaths } from '../../operations/touched.ts';
import { textArgument } from '../../text-work/text.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { refused } from './run-in-terminal.ts';

const maxBytes = 10 * 1024 * 1024;
/** In each round one of n concurrent replacements succeeds. */
const maxRounds = 10;
const mostShown = 500;

const input = z.strictObject({
  path: pathArgument.describe('Relative path to the file to change'),
  old_string: textArgument.min(1, 'is empty').describe('Exact text to replace'),
  new_string: textArgument.describe('Text to put in its place. May be empty'),
});
type Args = z.output<typeof input>;

export const replaceStringInFile = builtInTool({
  name: 'replace_string_in_file',
  description: 'Replace the first occurrence of an exact text in a file. Both texts are literal, not patterns.',
  effect: 'workspace',
  risk: 'high',
  label: 'dangerous',
  asks: true,
  input,
  touches: ({ path }) => touchedPaths('write', path),
  async execute(context, args) {
    for (let round = 1; ; round++) {
      try {
        return await replaceOnce(context, args);
      } catch (error) {
        // Another call wrote in between. Its change is kept: the replacement is made in the new content.
        if (!(error instanceof FileError && error.code === 'ECHANGED') || round === maxRounds) throw error;
      }
    }
  },
  preview: (context, args) => previewEdit(context, { ...args, replace_all: false }),
});

async function replaceOnce(context: ToolContext, { path, old_string, new_string }: Args): Promise<ToolOutcome> {
  const { data, bytes, sha256 } = await context.files.read(path, { max_bytes: maxBytes }, context.signal);
  if (sha256 === null) {
    const message = `File '${path}' is too large (${bytes} bytes, the limit is ${maxBytes} bytes)`;
    return { ...refused('EFBIG', message, 'Change it with run_in_terminal, e.g. with sed.'), touched: [] };
  }
  const replaced = await context.text.run('replace_first', { data, old_string, new_string });
  if (!('line' in replaced)) {
    const shown = old_string.length > mostShown ? `${old_string.slice(0, mostShown)}…` : old_string;
    const suggestion = 'Read the file and copy the text exactly, with its spaces and line ends.';
    return { ...refused('ENOMATCH', `String '${shown}' not found in file`, suggestion), touched: [] };
  }
  const written = await context.files.write(path, Buffer.from(replaced.data), { expect: { sha256 } }, context.signal);
  const { found, line } = replaced;
  const warning = found > 1 ? `\nWarning: Found ${found} occurrences, replaced only the first at line ${line}` : '';
  const value = {
    output: `Replaced 1 occurrence in ${path}${warning}`,
    files_affected: [relativePath(path)],
    metadata: { occurrences_found: found, occurrences_replaced: 1, lines_changed: [line] },
  };
  return { status: 'succeeded', value, ...changedPaths(path, written) };
}
