import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { defaultTenant } from '@holdpoint/contract';
import { hookTakenSchema } from '@holdpoint/contract/wire';
import type { StoredPull } from '@holdpoint/engine';
import { z } from 'zod';
import type { App, ServerDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

type Deps = Pick<ServerDeps, 'githubWebhook' | 'secrets' | 'pulls' | 'redis' | 'logger'>;

/** GitHub sends at most 25 MB; what a look needs stands in far less. */
const bodyLimit = 5 * 1024 ** 2;
/** GitHub sends a delivery again when a person asks for it, within three days. */
const keptS = 3 * 24 * 3600;
const mostWoken = 200;

const numbered = z.object({ number: z.int() });
const deliverySchema = z
  .object({
    repository: z.object({ full_name: z.string().max(300) }),
    pull_request: numbered.optional(),
    issue: numbered.optional(),
    /** The commit of a status. */
    sha: z.string().optional(),
    check_run: z.object({ head_sha: z.string() }).optional(),
  })
  .transform(({ repository, pull_request, issue, sha, check_run }) => ({
    repository: repository.full_name,
    number: pull_request?.number ?? issue?.number,
    commit: check_run?.head_sha ?? sha,
  }));

/**
 * POST /v1/hooks/github. A delivery only has pull requests looked at: nothing in it is believed, so a delivery that is wrong, late or sent
 * twice does no more than a look by the clock.
 */
export function githubHookRoute(app: App, deps: Deps): void {
  void app.register(async (raw: App) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
      done(null, body),
    );
    raw.post(
      '/v1/hooks/github',
      {
        config: { access: 'open' },
        bodyLimit,
        schema: {
          tags: ['changes'],
          operationId: 'takeGithubHook',
          summary: 'Take a webhook of GitHub',
          description:
            'Signed with the secret that HOLDPOINT_GITHUB_WEBHOOK names (`x-hub-signature-256`). Has the pull request that it names, by its number or its commit, looked at. 401 `hook_refused`: the signature is wrong.',
          response: { 202: hookTakenSchema },
        },
      },
      async ({ body, headers }, reply) => {
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
        assertSigned(deps, bytes, headers['x-hub-signature-256']);
        const delivery = String(headers['x-github-delivery'] ?? '');
        const key = `hp:{pulls}:delivery:${createHash('sha256').update(delivery).digest('hex')}`;
        if (delivery !== '' && (await deps.redis.exists(key)) === 1) return reply.code(202).send({ taken: false });
        await wake(deps, bytes);
        // After the wake-up: a delivery is rather taken twice than lost.
        if (delivery !== '') await deps.redis.set(key, '1', 'EX', keptS);
        return reply.code(202).send({ taken: true });
      },
    );
  });
}

/** @throws ApiProblem `hooks_off`, `hook_refused` */
function assertSigned(deps: Deps, body: Buffer, signature: unknown): void {
  const secret = secretOf(deps);
  if (secret === undefined) throw new ApiProblem('hooks_off', 'this server takes no webhooks of GitHub');
  const given = typeof signature === 'string' ? signature : undefined;
  if (!isSigned(body, secret, given)) throw new ApiProblem('hook_refused', 'the signature of the delivery is wrong');
}

/** A guessed secret lets anyone have pull requests looked at. */
const leastSecret = 16;

/** Anyone may ask, so what is wrong with the secret stands in the log alone. */
function secretOf({ githubWebhook: name, secrets, logger }: Deps): string | undefined {
  if (name === undefined) return undefined;
  try {
    const secret = secrets.resolve(name, { tenant: defaultTenant }).trim();
    if (secret.length >= leastSecret) return secret;
    logger.warn({ secret: name }, `no webhook is taken: its secret has fewer than ${leastSecret} characters`);
  } catch (error) {
    logger.warn({ secret: name, err: error }, 'no webhook is taken: its secret cannot be read');
  }
  return undefined;
}

/** GitHub signs the very bytes of the body. The comparison takes as long for a wrong signature as for the right one. */
function isSigned(body: Buffer, secret: string, signature: string | undefined): boolean {
  const [, given] = /^sha256=([0-9a-f]{64})$/.exec(signature ?? '') ?? [];
  if (given === undefined) return false;
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), Buffer.from(given, 'hex'));
}

async function wake({ pulls, logger }: Deps, body: Buffer): Promise<void> {
  const { data } = deliverySchema.safeParse(parse(body));
  if (data === undefined) return;
  const { repository, number, commit } = data;
  // The checks of a busy repository would use up the requests of the token, if each had every pull request looked at.
  const concerns = ({ state }: StoredPull): boolean =>
    state.status === 'open' && (number === undefined ? state.commit === commit : state.number === number);
  let woken = 0;
  for (const runId of await pulls.store.ofRepository(repository)) {
    const found = await pulls.store.find(runId);
    if (found === undefined || !concerns(found)) continue;
    await pulls.hasten(runId, 'hook');
    logger.info({ run_id: runId }, 'a webhook has a pull request looked at');
    // The others are looked at by the clock.
    if (++woken >= mostWoken) return;
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
