import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { wholeText } from '../../operations/read-text.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { settingsOf } from './settings.ts';

export const read = builtInTool({
  name: 'Read',
  description:
    'Reads a text file of the workspace. Returns {content}: the exact text, with its line endings and its byte order mark.',
  version: '1.0.0',
  effect: 'read',
  risk: 'low',
  input: z.strictObject({ file: pathArgument.describe('File to read, relative to the workspace root') }),
  output: z.strictObject({ content: z.string() }),
  touches: ({ file }) => touchedPaths('read', file),
  async execute({ files, settings, signal }, { file }) {
    const { maxFileBytes } = settingsOf(settings).limits;
    const { data, bytes, sha256 } = await files.read(file, { max_bytes: maxFileBytes }, signal);
    if (sha256 === null) {
      const message = `${file} has ${bytes} bytes; files of more than ${maxFileBytes} bytes are not read.`;
      return failure('EFILETOOLARGE', message, 'Read a part of it with a command.');
    }
    const content = wholeText(data);
    if (content === undefined) return failure('EBINARY', `${file} is no UTF-8 text.`, 'Look into it with a command.');
    return { status: 'succeeded', value: { content } };
  },
});
