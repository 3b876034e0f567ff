import { setTimeout as wait } from 'node:timers/promises';
import type { Shot, ShotRequest } from '../protocol.ts';
import type { Browser } from './browser.ts';
import { captureImage } from './capture-image.ts';
import { ShotError } from './error.ts';
import { watchPage } from './watch-page.ts';

/** Milliseconds after the load for fonts and the first frames of scripts. */
const settleMs = 300;

export async function takeShot(browser: Browser, request: ShotRequest): Promise<Shot> {
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: object = {}) =>
    within(request.answer_ms, browser.send(method, params, sessionId as string));
  const seen = await watchPage(browser, { session: sessionId as string, send });
  const shot = await openAndShow(send, seen, request).catch((error: unknown) => {
    if (!(error instanceof ShotError)) throw error;
    throw new ShotError(error.problem, [error.message, ...seen.lines()].join('\n'));
  });
  return { ...shot, ...seen.response(), console: seen.lines() };
}

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>;

async function openAndShow(
  send: Send,
  seen: Awaited<ReturnType<typeof watchPage>>,
  request: ShotRequest,
): Promise<Omit<Shot, 'console'>> {
  await send('Emulation.setDeviceMetricsOverride', {
    ...{ width: request.width, height: request.height, deviceScaleFactor: 1, mobile: false },
  });
  const opened = await Promise.race([send('Page.navigate', { url: request.url }), wait(request.load_ms)]);
  const failed = opened === undefined ? undefined : opened.errorText;
  if (typeof failed === 'string' && failed !== '' && !seen.hasResponse()) {
    throw new ShotError('page', `${request.url} cannot be opened: ${failed}`);
  }
  const loaded = await Promise.race([seen.loaded.then(() => true), wait(request.load_ms, false)]);
  if (loaded) await wait(settleMs);
  // A page that waits for its next address, or for a refused download, draws nothing.
  await send('Page.stopLoading');
  const image = await captureImage(send, request);
  const { title, url } = await pageFacts(send);
  return { ...image, url, title, loaded };
}

async function pageFacts(send: Send) {
  const { currentIndex, entries } = await send('Page.getNavigationHistory');
  const entry = (entries as { url: string; title: string }[])[currentIndex as number];
  return { url: (entry?.url ?? '').slice(0, 2000), title: (entry?.title ?? '').slice(0, 300).toWellFormed() };
}

const within = <T>(ms: number, promise: Promise<T>): Promise<T> =>
  Promise.race([
    promise,
    wait(ms, undefined, { ref: false }).then(() => {
      throw new ShotError('page', `the page did not answer within ${ms / 1000} s`);
    }),
  ]);
