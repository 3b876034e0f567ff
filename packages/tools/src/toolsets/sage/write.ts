import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { maxDiff } from '../../operations/patch-file.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { previewWrite, writeWholeFile } from '../../operations/write-file.ts';
import { textArgument } from '../../text-work/text.ts';
import { builtInTool } from '../built-in-tool.ts';
import { settingsOf } from './settings.ts';

export const write = builtInTool({
  name: 'Write',
  description:
    'Creates a file with exactly this content, or replaces the whole content of one. Missing directories are made. Returns {written}. In a dry run nothing is written, and diff shows what would change.',
  version: '1.0.0',
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({
    file: pathArgument.describe('File to write, relative to the workspace root'),
    content: textArgument.describe('The whole content of the file'),
  }),
  output: z.strictObject({ written: z.boolean(), diff: z.string().optional() }),
  touches: ({ file }) => touchedPaths('write', file),
  async execute(context, { file: path, content }) {
    const { maxFileBytes } = settingsOf(context.settings).limits;
    const bytes = Buffer.byteLength(content);
    if (bytes > maxFileBytes) {
      const message = `The content has ${bytes} bytes; files of more than ${maxFileBytes} bytes are not written.`;
      return { ...failure('EFILETOOLARGE', message, 'Write less, or in several files.'), touched: [] };
    }
    const change = { path, content, create_only: false };
    if (context.dryRun) {
      const shown = await previewWrite(context, { ...change, diffBytes: maxDiff });
      if (shown.kind !== 'diff') return { status: 'succeeded', value: { written: false }, touched: [] };
      return { status: 'succeeded', value: { written: false, diff: shown.patch }, touched: [] };
    }
    const outcome = await writeWholeFile(context, change);
    return outcome.status === 'succeeded' ? { ...outcome, value: { written: true } } : outcome;
  },
  preview: (context, { file: path, content }) => previewWrite(context, { path, content, create_only: false }),
});
