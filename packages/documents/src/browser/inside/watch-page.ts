import type { Browser } from './browser.ts';
import { consoleLine } from './console-line.ts';
import { isOwnAddress } from './own-address.ts';

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>;

interface Watched {
  loaded: Promise<void>;
  hasResponse(): boolean;
  response(): { status?: number };
  lines(): string[];
}

const mostLines = 50;
const mostPaused = 5000;

/** Listens to a page: refuses addresses outside the sandbox, answers its dialogs, and keeps what its console says. */
export async function watchPage(
  { onEvent, send: sendTo }: Browser,
  { session, send }: { session: string; send: Send },
): Promise<Watched> {
  const said: string[] = [];
  let left = 0;
  const say = (line: string) => {
    if (said.length < mostLines) said.push(line);
    else left += 1;
  };
  let status: number | undefined;
  let paused = 0;
  const loaded = Promise.withResolvers<void>();
  // The answer to an event may come after the end of the page.
  const reply = (method: string, params: object) => void sendTo(method, params, session).catch(() => {});
  onEvent((method, params, from) => {
    if (method === 'Browser.downloadWillBegin') say(`refused: the download ${String(params.url).slice(0, 300)}`);
    if (from !== session) return;
    if (method === 'Page.loadEventFired') loaded.resolve();
    else if (method === 'Page.javascriptDialogOpening') {
      say(`dialog: ${String(params.message).slice(0, 300)}`);
      reply('Page.handleJavaScriptDialog', { accept: false });
    } else if (method === 'Fetch.requestPaused') {
      const { requestId, request } = params as { requestId: string; request: { url: string } };
      paused += 1;
      if (isOwnAddress(request.url) && paused <= mostPaused) return reply('Fetch.continueRequest', { requestId });
      say(`refused: ${request.url.slice(0, 300)} is outside the sandbox`);
      reply('Fetch.failRequest', { requestId, errorReason: 'AccessDenied' });
    } else if (method === 'Network.responseReceived') {
      const { type, response } = params as { type: string; response: { status: number } };
      if (type === 'Document') status ??= response.status;
    } else {
      const line = consoleLine(method, params);
      if (line !== undefined) say(line);
    }
  });
  await sendTo('Browser.setDownloadBehavior', { behavior: 'deny', eventsEnabled: true });
  for (const part of ['Page.enable', 'Runtime.enable', 'Log.enable', 'Network.enable']) await send(part);
  await send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  return {
    loaded: loaded.promise,
    hasResponse: () => status !== undefined,
    response: () => (status === undefined ? {} : { status }),
    lines: () => (left === 0 ? said : [...said, `${left} more lines`]),
  };
}
