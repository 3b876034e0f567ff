import { join } from 'node:path';
import { openSandbox } from '@holdpoint/sandbox';
import { openWorkspaces } from '@holdpoint/workspace';
import { openGraphs } from '../open-graphs.ts';
import { quickParser } from './test-program.ts';

/** A worker that asks the graph of a run, to be killed: prints each progress, and at the end the answer. The last argument is the owner's id. */
const [dataDir = '', runId = '', snapshot = '', bwrapPath = '', id = ''] = process.argv.slice(2);
const owner = { uid: Number(id), gid: Number(id) };
const stateDir = join(dataDir, '../sandbox-of-process');
const sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
const workspaces = openWorkspaces({ dataDir, allocateOwner: () => owner });
const graphs = openGraphs({ sandbox, snapshots: workspaces, program: quickParser });
const { results } = await graphs.query({
  ...{ runId, owner, snapshot, query: 'summary', timeout_ms: 300_000, max_bytes: 1024 * 1024 },
  signal: new AbortController().signal,
  onProgress: ({ files }) => process.stdout.write(`${files}\n`),
});
process.stdout.write(`${JSON.stringify(results)}\n`);
process.exit(0);
