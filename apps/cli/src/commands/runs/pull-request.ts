import type { FollowedPullRequest } from '@holdpoint/contract/wire';
import { nameText, oneLine } from '../../output/index.ts';
import { type ApiOptions, apiCommand, commandLine, type Shell } from '../../shell/index.ts';

interface PullRequestOptions extends ApiOptions {
  look?: true;
}

export const pullRequestCommand = (shell: Shell) =>
  apiCommand('pull-request', 'show how the pull request of a run is, as Holdpoint saw it last')
    .argument('<run>', 'id of the run')
    .option('--look', 'have a worker look at the code host now')
    .action(async (runId: string, { url, json, look }: PullRequestOptions) => {
      const client = await shell.connect(url);
      const found = look ? await client.lookAtPullRequest(runId) : await client.getPullRequest(runId);
      if (json) return shell.printJson(found);
      shell.print(pullRequestText(found));
      if (look) shell.say(`again:    ${commandLine('runs', 'pull-request', runId)}`);
    });

function pullRequestText(found: FollowedPullRequest): string {
  const { pull_request: pull, status, rounds, heard, answers, problem, looked_at, next_look, webhooks } = found;
  const clock = next_look === null ? '' : `, looks again at ${next_look}${webhooks ? ' and at each webhook' : ''}`;
  return [
    `${nameText(pull.url)} is ${status}`,
    `rounds:   ${rounds.used} of ${rounds.most}`,
    `heard:    ${heard} since the last publish; ${answers} answers to send`,
    `looked:   ${looked_at ?? 'not yet'}${clock}`,
    ...(problem === null ? [] : [`problem:  ${oneLine(problem.message)} (${problem.code})`]),
    ...(problem?.next === undefined ? [] : [`next:     ${oneLine(problem.next)}`]),
  ].join('\n');
}
