import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGit } from '../../../host-git/git.ts';
import { git, gitBytes } from '../../../testing/index.ts';
import { loadTree } from '../../../tree/index.ts';
import { cleanText, isTextWithCrlf, readAttributes } from './clean-text.ts';

const pieces = ['a', 'word ', '\r\n', '\r\n', '\n', '\r', '$Id$', '$Id: x $', '$Id: ', '$', '\0', '\x1a', '\x07', 'é'];
const content = fc
  .array(fc.constantFrom(...pieces), { maxLength: 14 })
  .chain((parts) => fc.constantFrom('', 'x'.repeat(300)).map((more) => Buffer.from(`${parts.join('')}${more}`)));
const earlier = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => Buffer.from(parts.join('')));

const settings = ['text', '-text', 'text=auto', 'text=input', 'crlf', '-crlf', 'crlf=input', 'eol=lf', 'eol=crlf'];
const attributes = fc.uniqueArray(fc.constantFrom(...settings, 'text=auto eol=crlf', '!text', 'ident', 'binary'), {
  maxLength: 3,
});

test('cleanText equals `git add`', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-clean-'));
  try {
    git(folder, 'init', '-q', '-b', 'main', 'repository');
    const repository = join(folder, 'repository');
    const gitDir = join(repository, '.git');
    const hostGit = createGit({});
    const seen = { changed: 0, same: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ attributes, before: fc.option(earlier), after: content }), {
          minLength: 4,
          maxLength: 12,
        }),
        async (files) => {
          rmSync(join(gitDir, 'index'), { force: true });
          const rows = files.map((file, index) => `f${index} ${file.attributes.join(' ')}\n`);
          for (const [index, { before }] of files.entries()) {
            if (before === null) continue;
            const oid = gitBytes(repository, ['hash-object', '-w', '--stdin', '--no-filters'], before)
              .toString()
              .trim();
            git(repository, 'update-index', '--add', '--cacheinfo', `100644,${oid},f${index}`);
          }
          writeFileSync(join(repository, '.gitattributes'), rows.join(''));
          for (const [index, { after }] of files.entries()) writeFileSync(join(repository, `f${index}`), after);
          git(repository, 'add', '-A', '.');
          const tree = git(repository, 'write-tree');

          const state = { known: new Set<string>() } as Parameters<typeof loadTree>[1]['state'];
          const at = { shadow: gitDir } as Parameters<typeof loadTree>[1]['folder'];
          const { root } = await loadTree({ git: hostGit }, { folder: at, state, treeish: tree });
          const paths = files.map((_, index) => `f${index}`);
          const { conversions: read } = await readAttributes(
            { git: hostGit },
            { shadow: gitDir, source: gitDir, root, paths },
          );
          for (const [index, { before, after }] of files.entries()) {
            const found = read.get(`f${index}`) ?? { lines: 'unchanged' as const, ident: false };
            const cleaned = cleanText(after, { ...found, keepsCrlf: before !== null && isTextWithCrlf(before) });
            const real = gitBytes(repository, ['cat-file', 'blob', `:f${index}`]);
            expect(cleaned.toString('latin1')).toBe(real.toString('latin1'));
            seen[cleaned.equals(after) ? 'same' : 'changed'] += 1;
          }
        },
      ),
      { numRuns: 12 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
