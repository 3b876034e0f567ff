import type { Page } from 'playwright-core';

/** Whatever a page reports as wrong. */
export interface Watched {
  problems: string[];
}

/** Notes console errors, exceptions, reports of the content policy, failed requests, and requests to another origin. */
export async function watch(page: Page, url: string, expected: readonly RegExp[]): Promise<Watched> {
  const problems: string[] = [];
  const note = (kind: string, text: string): void => {
    if (!expected.some((pattern) => pattern.test(text))) problems.push(`${kind}: ${text}`);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note('console', message.text());
  });
  page.on('pageerror', (error) => note('exception', String(error.stack ?? error)));
  page.on('dialog', (dialog) => {
    note('dialog', dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && protocol !== 'blob:') note('other origin', request.url());
  });
  page.on('requestfailed', (request) => {
    // A page that is left aborts its requests.
    const why = request.failure()?.errorText ?? '';
    if (why !== 'net::ERR_ABORTED') note('request', `${request.url()} ${why}`);
  });
  await page.addInitScript({ content: tellReports });
  return { problems };
}

const tellReports = `document.addEventListener('securitypolicyviolation', (report) => {
  console.error('content policy: ' + report.violatedDirective + ' ' + report.blockedURI + ' ' + report.sample);
});`;
