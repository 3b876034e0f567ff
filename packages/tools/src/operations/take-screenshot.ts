import { createHash } from 'node:crypto';
import { imageBounds, type KeptImage, readImageFacts, type ToolOutcome } from '@holdpoint/contract';
import type { ScreenshotQuery } from '../screenshot-port.ts';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';

/** The picture is kept like an image that was read. The words of the page's console and of the server are content. */
export async function takeScreenshot({ screenshot }: ToolContext, query: ScreenshotQuery): Promise<ToolOutcome> {
  if (screenshot === undefined) return failure('ENOBROWSER', 'This run has no browser.', otherWays);
  const shot = await screenshot(query);
  if ('problem' in shot) {
    const { problem, message, output } = shot;
    const said = output === undefined ? message : `${message}\nOutput of the server:\n${output}`;
    return failure(codes[problem], said, nexts[problem]);
  }
  const { image: data, ...rest } = shot;
  const image = keptImage(data);
  if (image === undefined) return failure('EBROWSER', 'The browser made no usable picture.', otherWays);
  return { status: 'succeeded', value: { ...rest, console: [...rest.console], image }, contents: [data], touched: [] };
}

const codes = { server: 'ESERVE', browser: 'EBROWSER', page: 'EPAGE' };
const otherWays = 'Check the page in another way: ask it with a command, for example curl, or run its tests.';
const nexts = {
  server: 'Let serve stay in the foreground on the port of the url. The workspace is read-only for it: write to /tmp.',
  browser: otherWays,
  page: 'Read what the page and its server said. A page that never stops a script has no picture.',
};

function keptImage(data: Buffer): KeptImage | undefined {
  const facts = readImageFacts(data);
  if (facts === undefined || data.length > imageBounds.bytes) return undefined;
  return { ...facts, bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') };
}
