import { expect, test } from 'vitest';
import { until } from '../harness/until.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

/** Whether the browser itself shows and lists a notification. */
const canShow = `navigator.serviceWorker.ready.then(async (own) => {
  await own.showNotification('a try');
  const shown = await own.getNotifications();
  for (const one of shown) one.close();
  while ((await own.getNotifications()).length > 0);
  return shown.length > 0;
}).catch(() => false)`;

withBrowser('the service worker', () => {
  test('shows a push with tool, run and risk, and its page', async ({ skip }) => {
    const context = await console.context();
    await context.grantPermissions(['notifications'], { origin: console.url });
    const page = await console.open('/approvals', { context });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByLabel('Notify this device').waitFor();
    const devtools = await context.newCDPSession(page);
    const registered: string[] = [];
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      registered.push(...registrations.map(({ registrationId }) => registrationId));
    });
    await devtools.send('ServiceWorker.enable');
    await until('the worker is registered', () => Promise.resolve(registered.length > 0));
    skip(!(await page.evaluate<boolean>(canShow)), 'this browser shows no notifications');
    const url = '/approvals/apr_01890000-0000-7000-8000-000000000000';
    const data = JSON.stringify({ kind: 'approval', tool: 'bash', title: 'Fix it', risk: 'high', url });
    const registrationId = registered.at(-1) ?? '';
    await devtools.send('ServiceWorker.deliverPushMessage', { origin: `${console.url}/`, registrationId, data });
    const read = `navigator.serviceWorker.ready.then((own) => own.getNotifications())
      .then((all) => all.map(({ title, body, data }) => ({ title, body, page: data.page })))`;
    await until('the notification is there', async () => (await page.evaluate<unknown[]>(read)).length > 0);
    expect(await page.evaluate(read)).toEqual([
      { title: 'bash waits for a decision', body: 'Fix it (high risk)', page: url },
    ]);
  });
});
