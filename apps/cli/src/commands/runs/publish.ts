import { ApiError, type Client } from '@holdpoint/client';
import { placeOf } from '@holdpoint/contract';
import type { Publication, Publish, RunDetail } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ConfirmOptions, isSure, offersAgain, withYes } from '../../deciding/confirm.ts';
import { findSnapshot } from '../../find-named.ts';
import { howToDecide } from '../../follow-run.ts';
import * as output from '../../output/index.ts';
import * as cli from '../../shell/index.ts';
import { type Resolve, resolveConflicts } from './resolve-conflicts.ts';

interface PublishOptions extends cli.ApiOptions, ConfirmOptions {
  branch?: string;
  message?: string;
  author?: { name: string; email: string };
  snapshot?: string;
  includeIgnored?: true;
  pullRequest?: true | string;
  base?: string;
  draft?: true;
  provider?: string;
  api?: string;
  token?: string;
  rounds?: number;
  dryRun?: true;
  timeout?: number;
  resolve?: Resolve;
}

interface Deps {
  shell: cli.Shell;
  client: Client;
  url?: string | undefined;
}

export const publishRunCommand = (shell: cli.Shell): Command =>
  withYes(
    cli.apiCommand(
      'publish',
      'publish what a run changed to its source: a branch of a repository, or the files of a directory',
    ),
  )
    .argument('<run>', 'id of the run')
    .option(
      '--branch <name>',
      'branch of a repository: created when missing, merged when it has moved (default: a new branch)',
    )
    .option('--message <text>', "commit message (default: the run's title)")
    .option('--author <author>', 'commit author, "Name <email>" (default: Holdpoint)', author)
    .option('--snapshot <id>', 'refuse when the run is not at this snapshot')
    .option('--include-ignored', "include files that a repository's ignore rules match (default: as the run says)")
    .option(
      '--pull-request [title]',
      "open a pull request from the pushed branch, or update the run's own (default title: that of the run)",
    )
    .option('--base <branch>', 'branch that the pull request is to be merged into (default: where the run began)')
    .option('--draft', 'open the pull request as a draft')
    .option('--token <secret>', "name of the secret with a token for the pull request (default: the source's)")
    .option('--rounds <number>', 'how often its checks and comments may wake the run (default: 5; 0: never)', rounds)
    .option('--provider <name>', 'kind of a code host of your own: github')
    .option('--api <url>', 'API of a code host of your own (default: https://HOST/api/v3)')
    .option('--dry-run', 'show what would happen; exit 8 when there are conflicts')
    .addOption(
      new Option(
        '--resolve [choice]',
        'resolve conflicts by lines: ask for each on the terminal, or take these lines in every conflicting hunk',
      )
        .choices(['run_lines', 'source_lines'])
        .conflicts('dryRun'),
    )
    .option('--timeout <seconds>', 'stop waiting after this time and exit 6', cli.seconds)
    .action(async (runId: string, options: PublishOptions) => {
      const { url, json, dryRun, timeout, snapshot, branch, message, author: by, includeIgnored, resolve } = options;
      const client = await shell.connect(url);
      const pull_request = pullRequestOf(options);
      const body = { branch, message, author: by, include_ignored: includeIgnored, pull_request };
      if (dryRun) return preview({ shell, client }, runId, { body, json });
      const changes = { include_ignored: includeIgnored };
      if (!json)
        for (const line of output.diffStat(await client.diff(runId, changes), shell.errColors)) shell.say(line);
      // The command publishes the shown snapshot.
      let seen = await findSnapshot(client, runId, snapshot);
      const question = async (): Promise<string> => {
        const { request, workspace } = await client.getRun(runId);
        seen ??= workspace.snapshot ?? undefined;
        return publishQuestion(request.source, branch, pull_request);
      };
      if (!(await isSure(shell, options, question))) return;
      const request = { body: { ...body, snapshot: seen }, timeout };
      await publishOrAsk({ shell, client, url }, runId, request, { ...options, resolve });
    });

interface Asking extends ConfirmOptions {
  json?: boolean;
  resolve?: Resolve | undefined;
}

/** Publishes, and prints how it went. A person whose validator failed sees its output, and may publish again. */
export async function publishOrAsk(
  deps: Deps,
  runId: string,
  request: Parameters<typeof publish>[2],
  options: Asking,
): Promise<void> {
  for (;;) {
    try {
      const publication = await publishResolved(deps, runId, request, options.resolve);
      return printPublication(deps.shell, publication, options.json);
    } catch (error) {
      if (!isInvalid(error) || options.json) throw error;
      if (!(await offersAgain(deps, runId, options))) throw error;
    }
  }
}

/** The source may change again while a person decides: then there is another conflict. */
const mostRounds = 20;

async function publishResolved(
  deps: Deps,
  runId: string,
  request: Parameters<typeof publish>[2],
  resolve: Resolve | undefined,
): Promise<Publication> {
  for (let round = 1; ; round++) {
    try {
      return await publish(deps, runId, request);
    } catch (error) {
      const approvalId = error instanceof ApiError ? error.approvalId : undefined;
      if (resolve === undefined || approvalId === undefined || round > mostRounds) throw error;
      if (!(await resolveConflicts(deps, approvalId, resolve))) throw error;
    }
  }
}

/** The coming change, after the list of files. */
function publishQuestion(
  source: RunDetail['request']['source'],
  branch: string | undefined,
  pull: Publish['pull_request'],
): string {
  if (source.type !== 'git') return 'Publish this to the source?';
  const opens = pull === undefined ? '' : ', and open a pull request';
  return `Publish this to ${branch === undefined ? 'a new branch' : `branch ${output.oneLine(branch)}`} of ${output.nameText(placeOf(source))}${opens}?`;
}

/** The API checks the values: an unknown provider is refused there, with its field. */
function pullRequestOf(options: PublishOptions): Publish['pull_request'] {
  const { pullRequest, base, draft, provider, api, token, rounds } = options;
  const given = { base, draft, provider, api, secret: token, rounds };
  const [first] = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (pullRequest !== undefined) {
    const title = pullRequest === true ? undefined : pullRequest;
    return { title, ...given } as NonNullable<Publish['pull_request']>;
  }
  if (first === undefined) return undefined;
  const option = first === 'secret' ? 'token' : first;
  throw new cli.CliError('usage', `--${option} is about a pull request.`, {
    next: 'Add --pull-request, or leave it out.',
  });
}

function rounds(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 0 to 50.');
}

/** Asks again until the publish is done: validators take time, and repeating the request starts nothing new. */
export async function publish(
  { shell, client }: Deps,
  runId: string,
  { body, timeout }: { body: Publish; timeout: number | undefined },
): Promise<Publication> {
  const until = timeout === undefined ? undefined : performance.now() + timeout;
  const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
  for (let asked = 1; ; asked++) {
    const publication = await client.publish(runId, body, { signal }).catch(async (error: unknown) => {
      if (!signal?.aborted) throw error;
      return publicationOf(client, runId);
    });
    if (publication.status !== 'requested' || (until !== undefined && performance.now() >= until)) return publication;
    if ((await client.ready()).workers === 0) {
      shell.say('No worker is running: the publish waits for one (npm start).');
      return publication;
    }
    if (asked === 1) shell.say('The publish is still running (validators may take a while).');
  }
}

/** The state of the publish, without a new request. */
async function publicationOf(client: Client, runId: string): Promise<Publication> {
  const { publication, workspace } = await client.getRun(runId);
  const { conflicts: _, ...rest } = publication;
  return { run_id: runId, snapshot: workspace.snapshot, ...rest };
}

function printPublication(shell: cli.Shell, publication: Publication, json: boolean | undefined): void {
  const { status, published } = publication;
  if (status === 'parked') shell.exitCode = cli.exitCodes.waiting;
  else if (published === null) shell.exitCode = cli.exitCodes.timeout;
  if (json) {
    shell.printJson(publication);
    return;
  }
  const { result, next } = publicationText(publication);
  shell.print(result);
  for (const line of output.leftOutText(published?.left_out ?? [], shell.errColors)) shell.say(line);
  for (const line of next) shell.say(line);
}

function publicationText({ run_id: runId, status, published, approval_id: approvalId }: Publication): {
  result: string;
  next: string[];
} {
  if (status === 'parked' && approvalId !== null) {
    return { result: `${runId}: its publish waits for a decision`, next: howToDecide(approvalId) };
  }
  if (published === null) {
    return {
      result: `${runId}: publication is ${status}`,
      next: [`look:     ${cli.commandLine('runs', 'show', runId)}`],
    };
  }
  const result = `published: ${output.publishedText(published)}`;
  if (published.type === 'directory') return { result, next: [] };
  if (published.pull_request !== undefined) {
    return { result, next: ['A later publish of this run with --pull-request updates it, and opens no second one.'] };
  }
  const branch = output.shellWord(output.branchName(published.branch));
  if (published.path.includes(':'))
    return {
      result,
      next: [`Pull it, or open a pull request: git fetch ${output.shellWord(published.path)} ${branch}`],
    };
  const merge = `git merge ${branch}`;
  return { result, next: [`Your work tree and current branch are unchanged. To merge it: ${merge}`] };
}

async function preview(
  { shell, client }: Deps,
  runId: string,
  { body, json }: { body: Publish; json: boolean | undefined },
): Promise<void> {
  const plan = await client.previewPublish(runId, body);
  if (plan.conflicts.length > 0) shell.exitCode = cli.exitCodes.conflict;
  if (json) return shell.printJson(plan);
  for (const line of output.publishPlanText(plan, shell.colors)) shell.print(line);
  for (const command of plan.validators) shell.say(`must pass first: ${output.oneLine(command)}`);
  if (plan.needs_approval) shell.say('The publish will wait for an approval.');
}

const isInvalid = (error: unknown): boolean => error instanceof ApiError && error.code === 'validator_failed';

/** `Ada Lovelace <ada@example.org>` */
function author(text: string): { name: string; email: string } {
  const [, name, email] = /^\s*([^<>]*[^<>\s])\s*<([^<>\s]+)>\s*$/.exec(text) ?? [];
  if (name === undefined || email === undefined) throw new InvalidArgumentError('Expected "Name <email>".');
  return { name, email };
}
