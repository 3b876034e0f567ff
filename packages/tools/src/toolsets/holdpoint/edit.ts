import { z } from 'zod';
import { editFile, previewEdit } from '../../operations/edit-file.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { renderEdit } from '../../result-text/changed-file.ts';
import { textArgument } from '../../text-work/text.ts';
import { builtInTool } from '../built-in-tool.ts';

/** Characters. Longer texts are written with `write_file`. */
const maxOld = 200_000;
const maxNew = 1_000_000;

const texts = {
  old_string: textArgument
    .min(1)
    .max(maxOld)
    .describe('Text to replace, exactly as in the file, whitespace and line endings included'),
  new_string: textArgument.max(maxNew).describe('New text, inserted literally'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence instead of requiring exactly one'),
};

const differ = ({ old_string, new_string }: { old_string: string; new_string: string }): boolean =>
  old_string !== new_string;
const equal = { path: ['new_string'], error: 'equals old_string, so that nothing would change' };

export const replacement = z.strictObject(texts).refine(differ, equal);

const input = z
  .strictObject({ path: pathArgument.describe('File to change, relative to the workspace root'), ...texts })
  .refine(differ, equal);

export const edit = builtInTool({
  name: 'edit',
  description: `Replaces text in a file of the workspace; every other byte stays as it is. The result shows both ends of each changed place, numbered as in read_file.
old_string must occur exactly once: include enough of the lines around it, or set replace_all. Copy it from read_file, without the line numbers and the tab behind them. ENOMATCH names the nearest line of the file and says when only whitespace or line endings differ; EMULTIPLE lists the line numbers. Create new files with write_file.`,
  effect: 'workspace',
  risk: 'medium',
  input,
  touches: ({ path }) => touchedPaths('write', path),
  render: renderEdit,
  execute: editFile,
  preview: previewEdit,
});
