import { posix } from 'node:path';
import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { pathArgument, relativePath, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { isAllowed, notAllowed, settingsOf } from './execute-bash.ts';

/** The schema names the minimum for models, and does not check it: the contract has an error of its own for a wrong range. */
const lineNumber = z.number().refine(Number.isSafeInteger, 'is not a whole number').meta({ minimum: 1 });

export const readFile = builtInTool({
  name: 'read_file',
  description: 'Reads a text file of the workspace, all of it or a range of its lines, and returns it unchanged.',
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    path: pathArgument.describe('Path of the file to read'),
    start_line: lineNumber.optional().describe('First line to return, counted from 1'),
    end_line: lineNumber.optional().describe('Last line to return; one beyond the end of the file means its last line'),
  }),
  touches: ({ path }) => touchedPaths('read', path),
  async execute(context, { path, start_line: start, end_line: end }) {
    const wrong = wrongRange(start, end);
    if (wrong !== undefined) return failure('ERANGE', wrong, 'Correct start_line and end_line.');
    const settings = settingsOf(context.settings);
    const real = await context.files.resolve(path, context.signal);
    if (!isAllowed(real, settings)) return { status: 'failed', error: notAllowed(path, settings) };
    const extension = [extensionOf(path), extensionOf(real)].find((one) => !settings.extensions.includes(one));
    if (extension !== undefined) {
      const message = `security: the file extension "${extension}" is not allowed`;
      return failure('EEXTENSION', message, `Read files with one of: ${settings.extensions.join(' ')}.`);
    }
    const { max_file_bytes: most, max_lines } = settings;
    const { data, bytes, sha256 } = await context.files.read(real, { max_bytes: most }, context.signal);
    if (sha256 === null) {
      const message = `file is too large: ${path} has ${bytes} bytes, and the limit is ${most} bytes`;
      return failure('EFILETOOLARGE', message, 'Cut out a part of it with execute_bash.');
    }
    const found = await context.text.run('lines', { data, start, end });
    if (found.binary) return failure('EBINARY', `${path} is not valid UTF-8 text`, 'Look into it with execute_bash.');
    if (start !== undefined && start > 1 && found.first === 0) {
      const message = `start_line ${start} is beyond the end of the file, which has ${found.total_lines} lines`;
      return failure('ERANGE', message, 'Choose a smaller start_line.');
    }
    const lines = found.first === 0 ? 0 : found.last - found.first + 1;
    if (lines > max_lines) {
      const message = `too many lines: ${lines} lines would be returned, and the limit is ${max_lines} lines`;
      return failure('ETOOMANYLINES', message, 'Read a range of lines with start_line and end_line.');
    }
    const { text: content, first: start_line, last: end_line, total_lines } = found;
    return {
      status: 'succeeded',
      value: { path: relativePath(path), content, start_line, end_line, total_lines, bytes },
    };
  },
});

function wrongRange(start: number | undefined, end: number | undefined): string | undefined {
  if (start !== undefined && start < 1) return `start_line must be at least 1, and it is ${start}`;
  if (end !== undefined && end < (start ?? 1)) return `end_line ${end} is before start_line ${start ?? 1}`;
  return undefined;
}

/** With its dot, in lower case. The name `.env` is an extension. */
function extensionOf(path: string): string {
  const name = posix.basename(path);
  const dot = name.lastIndexOf('.');
  return dot === -1 ? '' : name.slice(dot).toLowerCase();
}
