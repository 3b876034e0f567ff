import type { ToolContext } from '@holdpoint/tools';
import { z } from 'zod';

const input = z.strictObject({
  file: z.string().min(1).describe('File that gets the note'),
  note: z.string().min(1).max(1000),
});

/** A toolset of its own. A run chooses the toolset with `toolset: notes`. */
export const notes = {
  name: 'notes',
  tools: [
    {
      name: 'add_note',
      description: 'Adds a line to a file of notes and returns {file, bytes}.',
      version: '1.0.0',
      effect: 'workspace',
      risk: 'medium',
      input,
      // Policies and permissions judge the call by these paths.
      touches: ({ file }: z.output<typeof input>) => ({ paths: [{ path: file, access: 'write' }] }),
      async execute({ files, signal }: ToolContext, { file, note }: z.output<typeof input>) {
        const before = await files.read(file, {}, signal).then(
          ({ data }) => data.toString(),
          () => '',
        );
        const after = Buffer.from(`${before}${note}\n`);
        await files.write(file, after, { expect: { any: true } }, signal);
        return { status: 'succeeded', value: { file, bytes: after.length }, touched: [file] };
      },
    },
  ],
};

/** An additional tool of the default toolset. Its input is plain JSON Schema, so the module needs no library. */
export const more = {
  addsTo: 'holdpoint',
  tools: [
    {
      name: 'count_words',
      description: 'Counts the words of a file. Returns {words}.',
      effect: 'read',
      risk: 'low',
      input: {
        type: 'object',
        properties: { file: { type: 'string', minLength: 1, description: 'File of the workspace' } },
        required: ['file'],
        additionalProperties: false,
      },
      touches: ({ file }: { file: string }) => ({ paths: [{ path: file, access: 'read' }] }),
      async execute({ run }: ToolContext, { file }: { file: string }) {
        // Commands run in the sandbox, never on the worker's machine itself.
        const { end, stdout, stderr } = await run({ argv: ['wc', '-w', '--', file] });
        if (end.status === 'exited' && end.exit_code === 0) {
          return { status: 'succeeded', value: { words: Number.parseInt(stdout.text, 10) } };
        }
        return { status: 'failed', error: { code: 'ECOUNT', message: stderr.text.trim(), next: 'Check the path.' } };
      },
    },
  ],
};
