import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import { editFile, previewEdit } from '../../operations/edit-file.ts';
import { pathArgument } from '../../operations/path-argument.ts';
import { readLines } from '../../operations/read-lines.ts';
import { textArgument } from '../../operations/text.ts';
import { previewWrite, writeWholeFile } from '../../operations/write-file.ts';

const readInput = z.strictObject({
  path: pathArgument.describe('File to read, relative to the workspace root'),
  offset: z.int().min(1).max(1_000_000_000).default(1).describe('First line to return, counted from 1'),
  limit: z.int().min(1).max(10_000).default(2000).describe('How many lines to return at most'),
});

export const readFile = defineTool({
  name: 'read_file',
  description: `Reads a text file of the workspace.
Returns {path, content, start_line, line_count, total_lines, bytes, sha256, line_endings, final_newline, truncated}. content is the exact text without line numbers, so parts of it can be passed to edit as they are. When truncated is true, continue with offset = next_offset. One result has at most 64 KiB; a longer line is cut and cut_line names it. bom: content leaves out a byte order mark. lossy: bytes that are not UTF-8 become U+FFFD.
Read a file before you edit it. For a search over many files use grep.`,
  effect: 'read',
  risk: 'low',
  input: readInput,
  execute: readLines,
});

/** One character becomes at most three bytes of UTF-8. */
const maxChars = 3_000_000;

const writeInput = z.strictObject({
  path: pathArgument.describe('File to write, relative to the workspace root; missing directories are created'),
  content: textArgument.max(maxChars).describe('The whole new content, written exactly as given'),
  create_only: z
    .boolean()
    .default(false)
    .describe('Fail with EEXIST when the file already exists, instead of replacing it'),
});

export const writeFile = defineTool({
  name: 'write_file',
  description: `Creates a file or replaces its whole content. Returns {path, created, bytes, sha256}.
To change a part of an existing file use edit: it is safer and shorter. Set create_only when the file is meant to be new.`,
  effect: 'workspace',
  risk: 'medium',
  input: writeInput,
  execute: writeWholeFile,
  preview: previewWrite,
});

/** Characters. Longer texts are written with `write_file`. */
const maxOld = 200_000;
const maxNew = 1_000_000;

const editInput = z
  .strictObject({
    path: pathArgument.describe('File to change, relative to the workspace root'),
    old_string: textArgument
      .min(1)
      .max(maxOld)
      .describe('Text to replace, exactly as in the file, whitespace and line endings included'),
    new_string: textArgument.max(maxNew).describe('New text, inserted literally'),
    replace_all: z.boolean().default(false).describe('Replace every occurrence instead of requiring exactly one'),
  })
  .refine(({ old_string, new_string }) => old_string !== new_string, {
    path: ['new_string'],
    error: 'equals old_string, so that nothing would change',
  });

export const edit = defineTool({
  name: 'edit',
  description: `Replaces text in a file of the workspace; every other byte stays as it is. Returns {path, replacements, lines, bytes, sha256, diff, diff_truncated}.
old_string must occur exactly once: include enough of the lines around it, or set replace_all. Copy it from read_file's content (no line numbers). ENOMATCH names the nearest line of the file and says when only whitespace or line endings differ; EMULTIPLE lists the line numbers. Create new files with write_file.`,
  effect: 'workspace',
  risk: 'medium',
  input: editInput,
  execute: editFile,
  preview: previewEdit,
});
