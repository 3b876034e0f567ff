import { createHash } from 'node:crypto';
import type { App } from '../deps.ts';

const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Answers are data: a browser with such an answer as a page neither runs nor loads anything. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'";

/** Limits the browser's use of an answer. Only /docs and the console are pages, with connections to this server only; the console sets its own policy. */
export function setSecurityHeaders(app: App): void {
  app.addHook('onRequest', async (_request, reply) => {
    // A browser keeps no answer for the person who logs in next.
    reply.headers({ ...always, 'content-security-policy': dataPolicy, 'cache-control': 'no-store' });
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    const type = reply.getHeader('content-type');
    if (typeof payload === 'string' && typeof type === 'string' && type.startsWith('text/html')) {
      reply.header('content-security-policy', pagePolicy(payload));
    }
    return payload;
  });
}

/** Allows scripts of this server and inline scripts of the page, and styles, because the page's script creates them. */
function pagePolicy(html: string): string {
  const inline = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].flatMap(([, script = '']) =>
    script === '' ? [] : [`'sha256-${createHash('sha256').update(script).digest('base64')}'`],
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...inline].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
