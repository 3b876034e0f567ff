import { z } from 'zod';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { refused, success } from './run-in-terminal.ts';

const maxBytes = 10 * 1024 * 1024;
const shownBytes = 1024;

/** The schema names the minimum for models, and does not check it: the contract has an error of its own for a wrong range. */
const lineNumber = z.int().meta({ minimum: 1 });

export const readFile = builtInTool({
  name: 'read_file',
  description: 'Read a text file, or a range of its lines. Lines are counted from 1, and the range includes both ends.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input: z.strictObject({
    path: pathArgument.describe('Relative path to the file to read'),
    start_line: lineNumber.optional().describe('First line to read (1-based)'),
    end_line: lineNumber.optional().describe('Last line to read (inclusive)'),
  }),
  touches: ({ path }) => touchedPaths('read', path),
  async execute(context, { path, start_line, end_line }) {
    const { data, bytes } = await context.files.read(path, { max_bytes: maxBytes }, context.signal);
    const cut = bytes > data.length;
    const beginning = Buffer.from(data.subarray(0, shownBytes));
    const start = start_line ?? 1;
    // The text thread takes the buffer.
    const found = await context.text.run('lines', { data, start, end: end_line, cut });
    const { text, first, last, total_lines, binary } = found;
    const metadata = { total_lines, lines_returned: first === 0 ? 0 : last - first + 1, file_size_bytes: bytes };
    if (binary) {
      const output = `Warning: File appears to be binary, displaying first 1KB as hex\n${hexRows(beginning)}`;
      return success({ output, files_affected: [], metadata: { ...metadata, lines_returned: 0, binary } }, []);
    }
    if (start < 1 || (end_line !== undefined && end_line < start) || start > Math.max(total_lines, 1)) {
      const message = `Line range invalid - file has ${total_lines} lines, requested ${start}-${end_line ?? total_lines}`;
      return refused('ERANGE', message, `Use lines from 1 to ${total_lines}.`, metadata);
    }
    const warning = cut ? 'Warning: File is larger than 10MB, only the first 10MB are shown\n' : '';
    const output = `${warning}Contents of ${path} (lines ${first}-${last}):\n${text}`;
    return success({ output, files_affected: [], metadata: cut ? { ...metadata, truncated: true } : metadata }, []);
  },
});

function hexRows(data: Buffer): string {
  const rows = Array.from({ length: Math.ceil(data.length / 16) }, (_, row) => data.subarray(row * 16, row * 16 + 16));
  return rows.map((row) => row.toString('hex').replaceAll(/(..)(?=.)/g, '$1 ')).join('\n');
}
