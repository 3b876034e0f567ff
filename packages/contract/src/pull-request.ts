import { z } from 'zod';
import { parseRemote, type Remote } from './remote.ts';
import { secretNameSchema } from './secret.ts';
import { line } from './source.ts';

/** The code hosts with pull requests that a publish can open. */
export const pullRequestProviders = ['github'] as const;
export type PullRequestProvider = (typeof pullRequestProviders)[number];

/** How often the answers of a code host may wake a run, when its publish names no number. */
export const defaultPullRequestRounds = 5;

const rounds = z
  .int()
  .min(0)
  .max(50)
  .optional()
  .describe(
    `How often failed checks and comments of people with write access may wake the run, over the life of the pull request. 0: never. Default: ${defaultPullRequestRounds}`,
  );
const title = line.min(1).max(250);
const base = line.min(1).max(250).describe('The branch that the pull request is to be merged into');

/** The pull request of a publish, as a caller asks for it. */
export const pullRequestOptionsSchema = z.strictObject({
  provider: z
    .enum(pullRequestProviders)
    .optional()
    .describe('Default: github for a source at github.com or below ghe.com. Any other host needs it'),
  api: z
    .string()
    .min(1)
    .max(2000)
    .superRefine((text, context) => {
      const api = readApiAddress(text);
      if (typeof api === 'string') context.addIssue({ code: 'custom', message: api });
    })
    .optional()
    .describe('Address of the API. Default: https://api.github.com, and https://HOST/api/v3 for a host of your own'),
  secret: secretNameSchema
    .optional()
    .describe("A token for the API. Default: the secret of the source's `credentials`, for a source at https"),
  base: base.optional().describe('Default: the branch that the run began with; without one, the default branch'),
  title: title.optional().describe("Default: the run's title"),
  draft: z.boolean().optional().describe('Default: false'),
  rounds,
});
export type PullRequestOptions = z.infer<typeof pullRequestOptionsSchema>;

/** The pull request of a publish, with nothing left to choose: in the log, and under the digest of a publish plan. */
export const pullRequestTargetSchema = z.strictObject({
  provider: z.enum(pullRequestProviders),
  api: z.string().describe('Address of the API, the only place that the token is sent to'),
  repository: z.string().describe('owner/name'),
  secret: secretNameSchema.describe('The name of the secret with the token'),
  base: z.string().optional().describe("Not there: the repository's default branch"),
  title: z.string(),
  draft: z.literal(true).optional(),
  rounds,
});
export type PullRequestTarget = z.infer<typeof pullRequestTargetSchema>;

/** A pull request at its code host. */
export const pullRequestSchema = z.strictObject({
  provider: z.enum(pullRequestProviders),
  repository: z.string(),
  number: z.int().min(1),
  url: z.string().describe('Its page'),
});
export type PullRequest = z.infer<typeof pullRequestSchema>;

interface ApiAddress {
  /** Without a slash at the end. */
  url: string;
  host: string;
  port: number;
}

/** Reads the address of an API: https, without credentials, a query or a fragment. @returns a text about the mistake */
export function readApiAddress(text: string): ApiAddress | string {
  const url = URL.parse(text);
  if (/[\s\p{Cc}\\]/u.test(text) || url === null || !text.includes('://')) {
    return 'expected an address such as https://github.example.com/api/v3';
  }
  if (url.username !== '' || url.password !== '') {
    return 'the address has credentials in it, and addresses are logged. Put the token into a secret and name it in secret';
  }
  if (url.protocol !== 'https:') return 'expected https: a token is never sent without encryption';
  if (url.search !== '' || url.hash !== '') return 'the address has a query or a fragment';
  return {
    url: url.href.replace(/\/+$/, ''),
    host: url.hostname.toLowerCase().replace(/^\[|\]$/g, ''),
    port: Number(url.port || 443),
  };
}

/** The provider of a host that belongs to only one. */
export const knownProvider = (host: string): PullRequestProvider | undefined =>
  host === 'github.com' || host.endsWith('.ghe.com') ? 'github' : undefined;

/** The usual address of the API of a code host. */
export function usualApi({ host, port, transport }: Remote): string {
  if (host === 'github.com') return 'https://api.github.com';
  if (host.endsWith('.ghe.com')) return `https://api.${host}`;
  const name = host.includes(':') ? `[${host}]` : host;
  return `https://${name}${transport === 'ssh' || port === 443 ? '' : `:${port}`}/api/v3`;
}

/** `owner/name` of a remote repository; undefined for any other path. */
export function repositoryOf(url: string): string | undefined {
  const remote = parseRemote(url);
  if (typeof remote === 'string') return undefined;
  const path = remote.url.includes('://') ? URL.parse(remote.url)?.pathname : remote.url.replace(/^[^:]*:/, '');
  const [, owner, name] = /^\/*([\w.-]+)\/([\w.-]+?)(?:\.git)?\/*$/.exec(path ?? '') ?? [];
  const isPlain = (part: string | undefined): boolean => part !== undefined && !/^\.{1,2}$/.test(part);
  return isPlain(owner) && isPlain(name) ? `${owner}/${name}` : undefined;
}

/** The branch of a source that a pull request is merged into; undefined for a tag, a commit and no ref. */
export function branchOf(ref: string | undefined): string | undefined {
  if (ref === undefined || ref === 'HEAD' || /^[0-9a-f]{40}$/.test(ref)) return undefined;
  if (!ref.startsWith('refs/')) return ref;
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;
}
