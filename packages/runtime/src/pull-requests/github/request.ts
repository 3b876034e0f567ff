import { EgressError, type openGuardedFetch } from '@holdpoint/egress';
import { oneLine } from '@holdpoint/readable';
import { z } from 'zod';
import { PullRequestError, type PullRequestErrorCode } from '../errors.ts';

/** The used fields of GitHub's answers. Other fields may come and go. */
export const repositorySchema = z.object({
  full_name: z.string(),
  default_branch: z.string(),
  archived: z.boolean().optional(),
  permissions: z.object({ push: z.boolean() }).optional(),
});
export type Repository = z.infer<typeof repositorySchema>;

export const pullSchema = z.object({
  number: z.int().min(1),
  /** Shown to people as a link. */
  html_url: z.url({ protocol: /^https$/ }).max(2000),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  title: z.string(),
  body: z.string().nullable(),
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }).nullable() }),
  base: z.object({ ref: z.string() }),
});
export type Pull = z.infer<typeof pullSchema>;
export const pullsSchema = z.array(pullSchema);

const statusSchema = z.object({ context: z.string(), state: z.string(), description: z.string().nullable() });
export type Status = z.infer<typeof statusSchema>;
export const statusesSchema = z.object({ statuses: z.array(statusSchema) });

const userSchema = z.object({ id: z.number(), login: z.string(), type: z.string() }).nullish();
export type User = z.infer<typeof userSchema>;

const checkRunSchema = z.object({
  id: z.number(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullable(),
  app: z.object({ slug: z.string().optional() }).nullish(),
  output: z.object({ title: z.string().nullable(), summary: z.string().nullable() }),
});
export type CheckRun = z.infer<typeof checkRunSchema>;
export const checkRunsSchema = z.object({ check_runs: z.array(checkRunSchema) });

export const reviewSchema = z.object({
  id: z.number(),
  user: userSchema,
  body: z.string(),
  state: z.string(),
});

export const lineCommentSchema = z.object({
  id: z.number(),
  user: userSchema,
  body: z.string(),
  path: z.string(),
  diff_hunk: z.string(),
  line: z.number().nullish(),
  original_line: z.number().nullish(),
  start_line: z.number().nullish(),
});

export const commentSchema = z.object({
  id: z.number(),
  user: userSchema,
  body: z.string().nullish(),
  performed_via_github_app: z.unknown().nullish(),
});

export const permissionSchema = z.object({ permission: z.string(), user: userSchema });

export const anything = z.unknown();

/** A refusal in GitHub's words. */
const refusalSchema = z.object({
  message: z.string(),
  errors: z
    .array(
      z.union([
        z.string(),
        z.object({ message: z.string().optional(), field: z.string().optional(), code: z.string().optional() }),
      ]),
    )
    .optional(),
});

/** A way to the API of a single repository. */
export interface Api {
  /** Address of the API, without a slash at the end. */
  url: string;
  token: string;
  /** Judges the host and its address. Follows no redirect. */
  web: Pick<ReturnType<typeof openGuardedFetch>, 'fetch'>;
  /** Fetches a text from the place that the API leads to, without the token; undefined: it cannot be read. */
  fetchLog(place: URL): Promise<string | undefined>;
  /** Takes secrets out of the words of the host. */
  redact(text: string): string;
  signal: AbortSignal;
}

interface Request<Answer> {
  method?: 'GET' | 'POST' | 'PATCH';
  /** Begins with a slash. */
  path: string;
  body?: object;
  answer: z.ZodType<Answer>;
  /** What a refusal keeps from happening, for the error. */
  to: string;
}

/** The answer of the code host that is no success. */
interface Refusal {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  text: string;
}

/**
 * Sends a request with the token, to the API's address alone.
 * @returns undefined for an answer 404 of a GET
 * @throws PullRequestError
 */
export async function ask<Answer>(
  api: Api,
  { method = 'GET', path, body, answer, to }: Request<Answer>,
): Promise<Answer | undefined> {
  const headers = { ...common, authorization: `Bearer ${api.token}` };
  const url = `${api.url}${path}`;
  const sent = { url, method, headers, limits: { redirects: 0 }, tooLarge: 'fail' as const, signal: api.signal };
  const result = await api.web
    .fetch(body === undefined ? sent : { ...sent, body: JSON.stringify(body) })
    .catch((error: unknown) => {
      throw api.signal.aborted ? error : asRefusal(api, error);
    });
  const text = result.body.toString('utf8');
  if (result.status === 404 && method === 'GET') return undefined;
  if (result.status < 200 || result.status > 299) throw refusalOf(api, to, { ...result, text });
  const read = answer.safeParse(parse(text));
  if (read.success) return read.data;
  throw new PullRequestError(
    'EPULLREQUESTANSWER',
    `${hostOf(api)} gave an unknown answer to ${method} ${path.replace(/\?.*/, '')}.`,
  );
}

const common = {
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'x-github-api-version': '2022-11-28',
};

const hostOf = ({ url }: Api): string => new URL(url).host;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const codes: Readonly<Record<number, PullRequestErrorCode>> = {
  401: 'EPULLREQUESTTOKEN',
  403: 'EPULLREQUESTRIGHT',
  404: 'EPULLREQUESTRIGHT',
  409: 'EPULLREQUESTREFUSED',
  410: 'EPULLREQUESTREFUSED',
  422: 'EPULLREQUESTREFUSED',
};

function refusalOf(api: Api, to: string, { status, headers, text }: Refusal): PullRequestError {
  const said = `${hostOf(api)} refuses to ${to} (${status}): ${wordsOf(api, text)}`;
  const isLimit =
    status === 429 ||
    (status === 403 && (headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0'));
  if (isLimit) return new PullRequestError('EPULLREQUESTBUSY', said);
  const code = codes[status] ?? (status >= 500 ? 'EPULLREQUESTUNREACHABLE' : 'EPULLREQUESTREFUSED');
  return new PullRequestError(code, said);
}

const mostWords = 300;

/** The words of the host are a stranger's: one line, cut, without hidden characters and without secrets. */
function wordsOf({ redact }: Api, text: string): string {
  const read = refusalSchema.safeParse(parse(text));
  if (!read.success) return 'without a word';
  const { message, errors = [] } = read.data;
  const more = errors.map((one) =>
    typeof one === 'string' ? one : (one.message ?? [one.field, one.code].filter(Boolean).join(' ')),
  );
  return oneLine(redact([message, ...more].join('; ')), mostWords);
}

function asRefusal(api: Api, error: unknown): unknown {
  if (!(error instanceof EgressError)) return error;
  const said = api.redact(error.message);
  const code: Partial<Record<EgressError['code'], PullRequestErrorCode>> = {
    EREDIRECTREFUSED: 'EPULLREQUESTMOVED',
    EADDRESSREFUSED: 'EPULLREQUESTADDRESS',
    EHOSTNOTALLOWED: 'EPULLREQUESTADDRESS',
    ETOOLARGE: 'EPULLREQUESTANSWER',
  };
  return new PullRequestError(code[error.code] ?? 'EPULLREQUESTUNREACHABLE', said, { cause: error });
}

const pageSize = 100;
/** GitHub takes at most 2,500 comments for a pull request. */
const mostPages = 60;

/** The answer 404 about a thing that was there a moment ago. */
export const hidden = (api: Api, to: string): PullRequestError =>
  new PullRequestError('EPULLREQUESTMISSING', `${hostOf(api)} hides what is needed to ${to} (404).`);

/** All pages of a list. @throws PullRequestError also where there is none: nothing follows from a list that is hidden */
export async function askAll<Item>(
  api: Api,
  { path, item, to }: { path: string; item: z.ZodType<Item>; to: string },
): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const query = `per_page=${pageSize}&page=${page}`;
    const found = await ask(api, { path: `${path}?${query}`, answer: z.array(item), to });
    if (found === undefined) throw hidden(api, to);
    all.push(...found);
    if (found.length < pageSize) break;
  }
  return all;
}
