import { execFileSync } from 'node:child_process';
import type { WorkspaceFiles } from '@holdpoint/contract';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { WorkspaceMount } from '../port.ts';
import { useTestHost } from '../testing/host.ts';

const { host } = useTestHost();
let workspace: WorkspaceMount;
let files: WorkspaceFiles;

beforeAll(() => {
  workspace = host.makeWorkspace();
  files = host.sandbox.files(workspace);
});

const own = (line: string): string => {
  const { uid, gid } = workspace;
  const user = process.getuid?.() === 0 ? { uid, gid } : {};
  return execFileSync('bash', ['-c', line], { cwd: workspace.path, encoding: 'latin1', ...user });
};
/** Every path with its type, mode, target, links and content, of whatever may be read. */
const tree = () =>
  own(
    `find . -printf '%P %y %m %l %n\\0' 2>/dev/null | sort -z; find . -type f -print0 2>/dev/null | sort -z | xargs -0 cat 2>/dev/null; true`,
  );
const remake = () =>
  own(
    `chmod -R u+rwX . && find . -mindepth 1 -delete
     mkdir -p d/e empty shut/in .git && printf one >f && printf two >d/g && printf x >shut/in/h && printf 'a\\r\\nb' >$'new\\nline'
     ln -s f link && ln -s d way && ln -s nowhere dangling && ln -s /etc out && ln f hard && mkfifo fifo && chmod 555 shut/in`,
  );

const name = fc.constantFrom(
  ...[
    'f',
    'd',
    'd/e',
    'd/g',
    'd/g/x',
    'empty',
    'shut',
    'shut/in',
    'shut/in/h',
    'link',
    'way',
    'way/g',
    'dangling',
    'out',
    'out/passwd',
  ],
  ...[
    'hard',
    'fifo',
    'new\nline',
    'none',
    'none/x',
    '.',
    '..',
    '/',
    '.git',
    '.git/x',
    'f/',
    'd/',
    'd/../f',
    '/workspace/d',
    '',
    'a\0b',
    'x'.repeat(256),
  ],
);
const call = fc.oneof(
  fc.record({ operation: fc.constant('makeDirectory' as const), path: name }),
  fc.record({ operation: fc.constant('remove' as const), path: name, recursive: fc.boolean() }),
  fc.record({ operation: fc.constant('move' as const), path: name, to: name, replace: fc.boolean() }),
  fc.record({ operation: fc.constant('write' as const), path: name, create: fc.boolean(), parents: fc.boolean() }),
);

function perform(one: typeof call extends fc.Arbitrary<infer Call> ? Call : never): Promise<unknown> {
  switch (one.operation) {
    case 'makeDirectory':
      return files.makeDirectory(one.path);
    case 'remove':
      return files.remove(one.path, one);
    case 'move':
      return files.move(one.path, one.to, one);
    case 'write': {
      const expect = one.create ? ({ exists: false } as const) : { sha256: '0'.repeat(64) };
      return files.write(one.path, Buffer.from('new'), { expect, parents: one.parents });
    }
    default:
      return one satisfies never;
  }
}

test('a failed call leaves the tree as it was, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), async (calls) => {
      remake();
      let before = tree();
      for (const one of calls) {
        const error = await perform(one).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const after = tree();
        if (error === undefined) before = after;
        else expect([error, after === before]).toEqual([expect.objectContaining({ name: 'FileError' }), true]);
      }
      expect(own('ls -A | grep -c "^.holdpoint" || true').trim()).toBe('0');
    }),
    { numRuns: 40 },
  );
});
