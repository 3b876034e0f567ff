import { z } from 'zod';
import { editFileTimes, previewEdits } from '../../operations/edit-file.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { renderEdit } from '../../result-text/changed-file.ts';
import { builtInTool } from '../built-in-tool.ts';
import { replacement } from './edit.ts';

/** The text of all edits together. */
const maxChars = 2_000_000;

const input = z
  .strictObject({
    path: pathArgument.describe('File to change, relative to the workspace root'),
    edits: z
      .array(replacement)
      .min(1)
      .max(100)
      .describe('Edits in order. Each finds its old_string in the file as the edits before it left it'),
  })
  .refine(
    ({ edits }) => edits.reduce((sum, edit) => sum + edit.old_string.length + edit.new_string.length, 0) <= maxChars,
    { path: ['edits'], error: `have more than ${maxChars} characters together` },
  );

export const multiEdit = builtInTool({
  name: 'multi_edit',
  description: `Makes several edits of one file of the workspace in one step: all of them, or none when one fails.
Each edit is as in edit: its old_string must occur exactly once, or set replace_all. An error names the edit, counted from 1. Use it for two or more changes of a file; for one use edit.`,
  effect: 'workspace',
  risk: 'medium',
  input,
  touches: ({ path }) => touchedPaths('write', path),
  render: renderEdit,
  execute: editFileTimes,
  preview: previewEdits,
});
