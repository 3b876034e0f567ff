import type { PushKey, PushSubscription as Stored } from '@holdpoint/contract/wire';
import { ask } from '../api/request.ts';
import { workerAddress } from '../platform/worker-address.ts';

/** Undefined: this browser can get no pushes. On a phone only the installed page can, in some browsers. */
export const canGetPushes = (): boolean =>
  'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;

const registered = (): Promise<ServiceWorkerRegistration> =>
  navigator.serviceWorker.register(workerAddress('/service-worker.js'));

/** Whether this device gets pushes with the caller's key. */
export async function getsPushes(): Promise<boolean> {
  const own = await (await registered()).pushManager.getSubscription();
  return own !== null && (await storedOf(own.endpoint)) !== undefined;
}

async function storedOf(endpoint: string): Promise<Stored | undefined> {
  const { data } = await ask<{ data: Stored[] }>({ path: '/v1/push-subscriptions' });
  return data.find((one) => one.endpoint === endpoint);
}

/** Asks the person for permission. @throws PushRefused */
export async function startPushes(): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') throw new PushRefused();
  await registered();
  const { pushManager } = await navigator.serviceWorker.ready;
  const { public_key } = await ask<PushKey>({ path: '/v1/push-key' });
  const own = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
  await ask({ method: 'POST', path: '/v1/push-subscriptions', body: own.toJSON() });
}

export async function stopPushes(): Promise<void> {
  const own = await (await registered()).pushManager.getSubscription();
  if (own === null) return;
  const stored = await storedOf(own.endpoint);
  if (stored !== undefined) await ask({ method: 'DELETE', path: `/v1/push-subscriptions/${stored.id}` });
  await own.unsubscribe();
}

class PushRefused extends Error {
  override readonly message =
    'This browser does not allow notifications of this page. Allow them in its settings, and try again.';
}
