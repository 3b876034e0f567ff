import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { wholeText } from '../../operations/read-text.ts';
import { touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { contentEncoding, workspacePath } from './arguments.ts';
import { workbenchSettings } from './settings.ts';

export const readFile = builtInTool({
  name: 'read_file',
  description: `Reads a whole file of the workspace. Returns {content, size, modified}; size is the file's bytes. content is the exact text, with its line endings and its byte order mark. Read a binary file with encoding base64.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    path: workspacePath.describe('File to read, relative to the workspace root'),
    encoding: contentEncoding.describe('How content is returned'),
  }),
  output: z.strictObject({ content: z.string(), size: z.int(), modified: z.iso.datetime() }),
  touches: ({ path }) => touchedPaths('read', path),
  async execute({ files, settings, signal }, { path, encoding }) {
    const { file_bytes: maxBytes } = workbenchSettings.parse(settings);
    // Before the content: a file with a change in between looks older than its content, and never newer.
    const { mtime_ms: modified } = await files.stat(path, {}, signal);
    const { data, bytes, sha256 } = await files.read(path, { max_bytes: maxBytes }, signal);
    if (sha256 === null) {
      return failure(
        'EFILETOOLARGE',
        `${path} has ${bytes} bytes; files of more than ${maxBytes} bytes are not read.`,
        'Read a part of it with run_code.',
      );
    }
    const content = encoding === 'base64' ? data.toString('base64') : wholeText(data);
    if (content === undefined) {
      return failure('EBINARY', `${path} is no UTF-8 text.`, 'Read it with the encoding base64.');
    }
    return { status: 'succeeded', value: { content, size: bytes, modified: new Date(modified).toISOString() } };
  },
});
