import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { wholeText } from '../../operations/read-text.ts';
import { touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { contentEncoding, workspacePath } from './arguments.ts';
import { isListable } from './url-list.ts';

const mebibyte = 1024 * 1024;

/** The settings of the toolset in a run. */
export const workbenchSettings = z.strictObject({
  url_allowlist: z
    .array(
      z
        .string()
        .min(1)
        .max(300)
        .refine(isListable, 'expected an origin (https://example.com:8443) or a host (*.example.com:8443)'),
    )
    .max(100)
    .default([])
    .describe(
      'Where web_fetch goes without a question: origins (`https://example.com`) or hosts (`example.com`, `example.com:8443`, `*.example.com`)',
    ),
  code_network: z
    .boolean()
    .default(false)
    .describe("Whether run_code reaches the hosts of the run's network allowlist. Otherwise it has no network"),
  file_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('Bytes of the largest file that read_file returns'),
  output_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('Bytes that run_code may print. It is killed above them, so that what it printed is always whole'),
  body_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(5 * mebibyte)
    .describe('Bytes of a body that web_fetch returns. A longer one is cut and marked'),
});

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
