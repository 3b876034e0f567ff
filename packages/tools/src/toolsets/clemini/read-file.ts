import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { readTextFile } from '../../operations/read-text.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { wholeCharacters } from '../../text-work/whole-characters.ts';
import { builtInTool } from '../built-in-tool.ts';
import { allowedPath } from './bash.ts';

/** UTF-8 bytes of lines in a result. */
const maxBytes = 256 * 1024;

export const readFile = builtInTool({
  name: 'read_file',
  description:
    'Read a text file. Each line comes as "<number>: <line>"; the number and the colon are no part of the file. Continue a truncated result with offset. Returns: {contents, total_lines, truncated?}',
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    file_path: pathArgument.describe('File to read'),
    offset: z.int().min(1).max(1_000_000_000).default(1).describe('First line to read, counted from 1 (default: 1)'),
    limit: z.int().min(0).max(100_000).default(2000).describe('Number of lines to read (default: 2000)'),
  }),
  output: z.strictObject({ contents: z.string(), total_lines: z.int(), truncated: z.literal(true).optional() }),
  touches: ({ file_path }) => touchedPaths('read', file_path),
  async execute(context, { file_path, offset, limit }) {
    const allowed = await allowedPath(context, file_path);
    if (!allowed.ok) return allowed.failure;
    const read = await readTextFile(context, allowed.real);
    if (!read.ok) return read.failure;
    const end = offset + Math.max(limit, 1) - 1;
    const { text, first, total_lines, binary } = await context.text.run('lines', {
      data: read.file.data,
      start: offset,
      end,
    });
    if (binary) return failure('EBINARY', `${file_path} is no UTF-8 text.`, 'Look into it with bash.');
    if (first === 0 && offset > 1) {
      const message = `offset ${offset} is beyond the end of ${file_path}, which has ${total_lines} lines.`;
      return failure('ERANGE', message, 'Choose a smaller offset.', { total_lines });
    }
    const lines = first === 0 || limit === 0 ? [] : fitting(text.replace(/\n$/, '').split('\n'));
    const contents = lines.map((line, index) => `${offset + index}: ${line}`).join('\n');
    const isWhole = offset - 1 + lines.length >= total_lines && lines.at(-1)?.endsWith(cutNote) !== true;
    return { status: 'succeeded', value: { contents, total_lines, ...(!isWhole && { truncated: true }) } };
  },
});

const cutNote = ' … [the rest of this line is left out: it is too long]';

/** The first lines within the size of a result, at least one line. A longer line is cut. */
function fitting(lines: readonly string[]): string[] {
  let bytes = 0;
  const kept = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > maxBytes;
  });
  if (kept === -1) return [...lines];
  if (kept > 0) return lines.slice(0, kept);
  return [`${wholeCharacters(Buffer.from(lines[0] ?? '').subarray(0, maxBytes)).toString()}${cutNote}`];
}
