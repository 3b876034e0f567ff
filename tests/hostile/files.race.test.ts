import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { form, openAndClosed, type Scene, useScene } from './host/index.ts';

const swap = readFileSync(new URL('inside/swap.py', import.meta.url), 'utf8');
const raceMs = form === 'full' ? 5000 : 500;

/** Target of the link, and the file there that could be read or overwritten. */
const targets = [
  { name: 'another run’s workspace', of: ({ neighbour }: Scene) => neighbour.path, file: 'api-key' },
  { name: 'an open directory of the host', of: ({ outside }: Scene) => outside, file: 'canary' },
];

/** Name of the temporary file that the tool host writes beside a file. */
const ownName = /^hostile-\d$|^\.holdpoint-[0-9a-f]{16}\.tmp$/;

describe.each(openAndClosed)('a directory that is swapped for a link, with a worker of $name', (user) => {
  const { scene, workspace } = useScene(user, { limits: { wall_ms: 60_000 } });

  test.each(form === 'full' ? targets : targets.slice(0, 1))('to $name: no escape', async ({ of, file }) => {
    const target = of(scene);
    const { worker } = scene;
    const files = worker.files(workspace);
    await worker.run(workspace, `rm -rf real link; mkdir real; echo inside > real/${file}; ln -s ${target} link`);
    const controller = new AbortController();
    const swapping = worker.run(workspace, '/usr/bin/python3 -c "$SWAP" real link', {
      env: { SWAP: swap },
      signal: controller.signal,
    });
    const refused = new Set<string>();
    const escapes = new Set<string>();
    let attempts = 0;
    const tryOut = async (name: 'real' | 'link') => {
      attempts++;
      const path = `${name}/${file}`;
      const looked = await Promise.allSettled([
        files.read(path).then(({ data }) => [data.toString().trim()]),
        files.list(name).then(({ entries }) => entries.map((entry) => entry.name)),
        files.glob({ patterns: ['*'], cwd: name }).then(({ paths }) => paths.map((found) => basename(found))),
      ]);
      const wrote = await Promise.allSettled([
        files.write(`${name}/hostile-${attempts % 10}`, Buffer.from('inside'), { expect: { any: true } }),
        files.write(path, Buffer.from('inside'), { expect: { any: true } }),
      ]);
      for (const answer of [...looked, ...wrote]) if (answer.status === 'rejected') refused.add(answer.reason.code);
      const words = looked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      for (const word of words) if (word !== 'inside' && word !== file && !ownName.test(word)) escapes.add(word);
    };
    // Runs until it has seen both sides, however slow the machine is.
    const met = () => attempts > 20 && refused.has('EOUTSIDE');
    const started = performance.now();
    while (performance.now() < started + raceMs || (!met() && performance.now() < started + 30_000)) {
      await Promise.all([tryOut('real'), tryOut('link')]);
    }
    controller.abort(new Error('enough'));
    expect((await swapping).end).toEqual({ status: 'killed', reason: 'enough' });
    expect([...escapes]).toEqual([]);
    expect(met(), 'it was a race').toBe(true);
    expect(readdirSync(workspace.path).sort()).toEqual(['link', 'real']);
    await scene.expectIntact();
  });
});
