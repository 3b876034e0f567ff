import { z } from 'zod';
import { applyPatchText, patchPaths, previewPatchText } from '../../operations/make-changes.ts';
import { touchedPaths } from '../../operations/touched.ts';
import { renderPatch } from '../../result-text/changed-file.ts';
import { textArgument } from '../../text-work/text.ts';
import { builtInTool } from '../built-in-tool.ts';

const maxChars = 3_000_000;

export const applyPatch = builtInTool({
  name: 'apply_patch',
  description: `Changes files of the workspace by a patch: all of it, or nothing when a part does not apply. The result has the numbers of the new lines.
The patch is text:
*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ class Name
@@ def method
 a line that stays
-a line that goes
+a line that comes
*** Add File: new.txt
+every line of a new file
*** Delete File: old.txt
*** End Patch
Move to and @@ lines are optional. Paths are relative to the workspace root, one section per file. Lines are found by their content: give about 3 lines that stay around each change, and where these occur more than once, @@ with a line above, such as the class or function. Hunks of a file stand in its order. *** End of File behind a hunk means the end of the file. An error names the hunk and the nearest line.`,
  freeText: 'input',
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({
    input: textArgument.min(1).max(maxChars).describe('The whole patch, from *** Begin Patch to *** End Patch'),
  }),
  touches({ input }) {
    const paths = patchPaths(input);
    const { paths: written } = touchedPaths('write', ...paths.write);
    const { paths: deleted } = touchedPaths('delete', ...paths.delete);
    return { paths: [...written, ...deleted] };
  },
  render: renderPatch,
  execute: applyPatchText,
  preview: previewPatchText,
});
