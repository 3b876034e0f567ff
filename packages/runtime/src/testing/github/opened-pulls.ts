import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PullRequestTarget } from '@holdpoint/contract';
import type { PullRequestCall, PullRequestReport } from '@holdpoint/engine/worker';
import { openSecrets } from '@holdpoint/secrets';
import { git, initRepository } from '@holdpoint/workspace/testing';
import { openPullRequests } from '../../pull-requests/open-pull-requests.ts';
import { startGithub } from './github-server.ts';

export const token = 'token-of-the-test-1234';

/** A GitHub with a repository, and a process that opens pull requests there. */
export async function openedPulls() {
  const root = mkdtempSync(join(tmpdir(), 'holdpoint-pulls-'));
  const github = await startGithub(root, { [token]: {} });
  const environment = { HOLDPOINT_SECRET_GIT_TOKEN: token, HOLDPOINT_SECRET_OTHER: 'another-secret-5678' };
  const secrets = openSecrets({
    ...{ environment, variables: [], folder: undefined, storeFolder: join(root, 'secrets'), key: undefined },
  });
  const logged: object[] = [];
  const deps = {
    ...{ secrets, allowAddresses: ['127.0.0.1/32', '::1/128'], authorities: [github.certificate.cert] },
    ...{ gitHosts: [`localhost:${github.port}`], logger: { info: (fields: object) => void logged.push(fields) } },
  };
  let runs = 0;
  /** A repository with a pushed branch. */
  const start = (more: Partial<PullRequestTarget> = {}) => {
    const name = `r${++runs}`;
    const [bare, clone] = [join(root, 'owner', `${name}.git`), join(root, 'work', name)];
    const runId = `run_${runs}`;
    mkdirSync(clone, { recursive: true });
    writeFileSync(join(clone, 'a.txt'), 'one\n');
    initRepository(clone);
    git(root, 'clone', '-q', '--bare', clone, bare);
    git(clone, 'remote', 'add', 'origin', bare);
    const push = (text: string, branch = `holdpoint/${runId}`): string => {
      writeFileSync(join(clone, 'a.txt'), text);
      git(clone, 'commit', '-qam', text);
      git(clone, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
      return git(clone, 'rev-parse', 'HEAD');
    };
    const target: PullRequestTarget = {
      ...{
        provider: 'github',
        api: github.api,
        repository: `owner/${name}`,
        secret: 'GIT_TOKEN',
        title: 'Do it',
        ...more,
      },
    };
    const call = (commit: string): PullRequestCall => ({
      ...{ runId, scope: { tenant: 'default', secrets: [] }, target, branch: `refs/heads/holdpoint/${runId}`, commit },
      signal: new AbortController().signal,
    });
    const pulls = () => github.pulls.filter(({ html_url }) => html_url.includes(`/owner/${name}/`));
    return { runId, push, call, target, pulls, bare };
  };
  return {
    ...{ github, deps, start, logged, root },
    pullRequests: openPullRequests(deps),
    async [Symbol.asyncDispose]() {
      await github[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const capabilities = {} as PullRequestReport['validators'][number]['capabilities'];

export const report = (more: Partial<PullRequestReport> = {}): PullRequestReport => ({
  message: 'Repaired the parser.',
  digest: `sha256:${'d'.repeat(64)}`,
  validators: [
    {
      ...{
        name: 'unit',
        command: 'npm test',
        status: 'passed',
        exit_code: 0,
        detail: null,
        duration_ms: 1234,
        capabilities,
      },
      ...{ stdout: '', stdout_bytes: 0, stderr: '', stderr_bytes: 0 },
    },
  ],
  decisions: [
    {
      decision: 'approve',
      by: 'ann',
      votes: ['bob'],
      digest: `sha256:${'a'.repeat(64)}`,
      at: '2026-11-30T10:00:00.000Z',
    },
  ],
  decided: 1,
  ...more,
});
