import { type Notice, noticeOf } from './platform/notice.ts';

interface Extendable {
  waitUntil(work: Promise<unknown>): void;
}
interface PushEvent extends Extendable {
  data: { json(): unknown } | null;
}
interface ClickEvent extends Extendable {
  notification: { data: Notice; close(): void };
}
interface Events {
  install: Extendable;
  push: PushEvent;
  notificationclick: ClickEvent;
}

/** Makes the page installable, and shows pushes. No answer is kept: each approval is read from the server, and decided there alone. */
const worker = globalThis as unknown as {
  skipWaiting(): Promise<void>;
  registration: { showNotification(title: string, options: object): Promise<void> };
  clients: { openWindow(address: string): Promise<unknown> };
  addEventListener<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void;
};

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));

worker.addEventListener('push', (event) => {
  const notice = noticeOf(readJson(event));
  const { title, body, page } = notice;
  // A push that is sent twice shows once.
  event.waitUntil(
    worker.registration.showNotification(title, { body, tag: page, data: notice, icon: '/icons/icon-192.png' }),
  );
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(worker.clients.openWindow(event.notification.data.page));
});

/** A browser demands that each push shows something. */
function readJson({ data }: PushEvent): unknown {
  try {
    return data?.json();
  } catch {
    return undefined;
  }
}
