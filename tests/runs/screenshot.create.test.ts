import { readImageFacts } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { findBrowser } from '../../scripts/find-browser.ts';
import { useSystem } from '../harness/index.ts';

const browser = findBrowser();
const system = useSystem({ env: () => ({ HOLDPOINT_CHROMIUM: 'path' in browser ? browser.path : 'none' }) });

async function shoot(args: object) {
  const path = await system.directoryWith({
    'index.html': '<title>Shop</title><script>throw new Error("no cart")</script>',
  });
  const { run } = await system.client.createRun({
    ...{ open: true, workspace: { source: { type: 'directory', path } } },
  } as CreateRun);
  const { steps } = await system.client.sendCalls(
    run.id,
    { calls: [{ tool: 'screenshot', args: { serve: 'python3 -m http.server 8000', ...args } }] },
    { waitS: 60 },
  );
  return steps[0];
}

test.skipIf('missing' in browser)(
  'a run shows a page that it serves, and the page is an image of the step',
  async () => {
    const step = await shoot({ url: 'http://localhost:8000/', width: 400, height: 300 });
    expect(step).toMatchObject({
      ...{ status: 'succeeded', effect: 'read' },
      result: {
        ...{ title: 'Shop', status: 200, image: { media_type: 'image/png', width: 400, height: 300 } },
        console: [expect.stringContaining('uncaught: Error: no cart')],
      },
    });
    const image = await Array.fromAsync(await system.client.getStepImage(step?.id ?? ''));
    expect(readImageFacts(Buffer.concat(image))).toMatchObject({ width: 400, height: 300 });
  },
);

test.for(['http://example.com/', 'file:///etc/passwd', 'http://127.0.0.1.example.com/', 'http://169.254.169.254/'])(
  'an address outside the sandbox is refused: %s',
  async (url) => expect(await shoot({ url })).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } }),
);

test('the policy judges the command that serves the page', async () => {
  expect(await shoot({ serve: 'rm -rf /', url: 'http://localhost:8000/' })).toMatchObject({
    ...{ status: 'rejected', error: { code: 'EPERMISSION' } },
  });
});
