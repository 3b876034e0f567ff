import { deliveryNameSchema } from '@holdpoint/contract';
import { EgressError } from '@holdpoint/egress';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { guardOf } from '../../push/subscriptions.ts';

const resolveMs = 10_000;

/** @throws ApiProblem `invalid_webhook` */
export function checkName(name: string): void {
  const { error } = deliveryNameSchema.safeParse(name);
  if (error !== undefined) throw invalid('/name', error.issues[0]?.message ?? 'not valid');
}

/**
 * A receiver has a public https address. An address in HOLDPOINT_ALLOW_ADDRESSES may be private, and, written as a number, without https.
 * @throws ApiProblem `invalid_webhook`
 */
export async function checkUrl({ webhooks }: Pick<ApiDeps, 'webhooks'>, text: string): Promise<void> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalid('/url', 'it is not an https address');
  if (url.username !== '' || url.password !== '') throw invalid('/url', 'it holds a user name or a password');
  if (url.hash !== '') throw invalid('/url', 'it has a fragment, which is never sent');
  const isNumber = /^(\d+\.\d+\.\d+\.\d+|\[.*\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isNumber) throw invalid('/url', 'it is not an https address');
  const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
  try {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    await guardOf(url, webhooks.allowAddresses).check({ host, port }, AbortSignal.timeout(resolveMs));
  } catch (error) {
    const why =
      error instanceof EgressError ? `${error.message} ${error.next}` : 'its name could not be resolved in time';
    throw invalid('/url', why);
  }
}

function invalid(pointer: string, detail: string): ApiProblem {
  return new ApiProblem('invalid_webhook', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}
