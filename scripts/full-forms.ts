import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mayHaveOne = ['packages/{engine,workspace}/src/**/*.test.ts', 'tests/runs/*.test.ts'];

function found(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).toSorted();
}

const filesWith = (mark: RegExp): string[] =>
  globSync(mayHaveOne, { cwd: root })
    .filter((file) => mark.test(readFileSync(join(root, file), 'utf8')))
    .toSorted();

/** Files that kill a process at every step, or try every case, in `npm run test:crash`, and at some in other suites. */
export const fullForms = filesWith(/\bstride\b|HOLDPOINT_CRASH/);

/** Files of everyday tests with such a loop among them. `npm test` has them with a fifth of the moments or cases. */
export const fullLoops = filesWith(/\b(killPoints|someOf)\b/);

/**
 * Files that take five seconds or more because they try hundreds of cases, type on terminals, wait, move hundreds of megabytes or take
 * all processors. `npm run test:faults` has them.
 */
export const manySeconds = [
  'apps/api/src/bound-connections.limit.test.ts',
  'apps/api/src/passkeys/confirm-with.recover.test.ts',
  'apps/api/src/routes/{approvals/pattern.create,events/events.stream,push/push.create}.test.ts',
  'apps/api/src/routes/approvals/one-person.reject.test.ts',
  'apps/cli/src/commands/{commands.render,data-format.reject,follow-run.create,foreground.create}.test.ts',
  'apps/cli/src/completion/shell-scripts.read.test.ts',
  'apps/console/src/diff/patch-lines.parse.test.ts',
  'packages/code-graph/src/{graph.race,killed-worker.recover,parser.reject,store.recover,thread/graph-thread.limit}.test.ts',
  'packages/code-graph/src/extract/extract.limit.test.ts',
  'packages/documents/src/browser/shot.create.test.ts',
  'packages/engine/src/audit/{seal.recover,start-audit.race}.test.ts',
  'packages/engine/src/handlers/{look-at-runs.recover,any-order.race}.test.ts',
  'packages/engine/src/installation/migrations/migrate.recover.test.ts',
  'packages/engine/src/{policies/put-policy.race,queries/search-runs.list}.test.ts',
  'packages/runtime/src/adapters/remote-git.publish.test.ts',
  'packages/runtime/src/{jobs/shared-slots.race,model-planner/provider-away.recover}.test.ts',
  'packages/policy/src/{judge/judge.limit,command/classify-line.parse,command/read-word.parse}.test.ts',
  'packages/sandbox/src/files/{search.limit,tool-host-failures.recover}.test.ts',
  'packages/sandbox/src/process/with-frozen.race.test.ts',
  'packages/sandbox/src/{sandbox.cancel,sandbox.limit,sandbox-end.race,sandbox-folders.race,sandbox-spares.recover}.test.ts',
  'packages/sandbox/src/bubblewrap/wall.reject.test.ts',
  'packages/sandbox/src/cgroup/cgroups.limit.test.ts',
  'packages/telemetry/src/traces/export.recover.test.ts',
  'packages/tools/src/{toolsets/workbench/run-code.read,web/page.limit}.test.ts',
  'packages/workspace/src/diff/{against-git,diff}.render.test.ts',
  'packages/workspace/src/drivers/overlay/foreign-mounts.recover.test.ts',
  'packages/workspace/src/left-out/{ignored-paths.list,large-file.publish}.test.ts',
  'packages/workspace/src/materialise/{check-out.create,git-bomb.limit,memory.measure}.test.ts',
  'packages/workspace/src/publish/merge/conflict-lines.create.test.ts',
  'packages/workspace/src/publish/git/rename.publish.test.ts',
  'packages/workspace/src/{programs.limit,maintenance/tidy-folders.recover,tree/mapped-writes.read}.test.ts',
  'packages/workspace/src/source/{archive/archive.read,git/plain-object.read,git/upkeep.race,selection.parse}.test.ts',
  'packages/workspace/src/store/journal/journal.recover.test.ts',
  'tests/gate/{imports,new-event}.reject.test.ts',
  'tests/runs/{cancel-step.cancel,ignored.publish,injected-header.create,planted-secret.reject}.test.ts',
  'tests/tasks/{tasks,real-model}.create.test.ts',
  'tests/shell/walled.reject.test.ts',
  'tests/telemetry/metrics-and-logs.reject.test.ts',
  'apps/cli/src/commands/workspace.publish.test.ts',
  'apps/api/src/routes/changes/changes.publish.test.ts',
  'packages/workspace/src/{diff/unreadable.render,publish/git/commit.publish,materialise/workspace.create}.test.ts',
  'apps/api/src/routes/schedules/schedules.create.test.ts',
  'packages/language-servers/src/{hostile-server.reject,language-servers.read}.test.ts',
  'packages/runtime/src/{hostile-mcp-program.reject,kept-mcp-programs.recover}.test.ts',
  'packages/runtime/src/pull-requests/pull-request.publish.test.ts',
  'packages/sandbox/src/files/tool-host-changes.create.test.ts',
  'packages/workspace/src/publish/{directory/writer.race,git/merge.publish}.test.ts',
  'tests/runs/{model-run,tasks}.create.test.ts',
  'apps/api/src/routes/webhooks/{webhooks.create,hostile-receiver.reject}.test.ts',
  'apps/api/src/routes/{approvals/approval.reject,runs/runs.fork}.test.ts',
  'apps/cli/src/commands/run/removed-options.reject.test.ts',
  'packages/engine/src/{commands/plan-mode,handlers/handle-task,attempts/awaited-outside}.recover.test.ts',
  'packages/engine/src/spans/shape.read.test.ts',
  'packages/runtime/src/pull-requests/hostile-host.reject.test.ts',
  'packages/runtime/src/model-planner/instructions/repository.read.test.ts',
  'packages/workspace/src/repository/history.create.test.ts',
  'packages/engine/src/pull-requests/look.recover.test.ts',
  'packages/runtime/src/pull-requests/{talk-back.publish,strangers.reject}.test.ts',
].flatMap(found);

/** Files that start a system of their own for a few tests, which takes three seconds of CPU time. */
const ownSystems = [
  'apps/cli/src/commands/{audit.read,keys.create,limits.reject,open.create,policy-run.read,secrets.create,sessions.create}.test.ts',
  'apps/cli/src/commands/{open-run,approvals/decisions,policy/policies,run/follow-submitted}.create.test.ts',
  'tests/docs/client-example.create.test.ts',
  'tests/runs/{absent-content,code-graph,model-approval,pdf}.read.test.ts',
  'tests/runs/{language-servers,screenshot}.create.test.ts',
  'tests/runs/{caller,clemini,cli-agent,decision-path,permissions}.reject.test.ts',
  'tests/runs/{custom-tools,dry-run,registries,remembering,sage}.create.test.ts',
  'tests/runs/{agents.list,live.stream}.test.ts',
  'tests/telemetry/traces.create.test.ts',
  'apps/api/src/routes/sign-in/{forged-tokens,sign-in}.reject.test.ts',
  'tests/runs/evals.create.test.ts',
  'tests/runs/pull-request-talks.publish.test.ts',
].flatMap(found);

const parts = 8;
/** Days since 1970. `.ci/run` sets it, and prints it: the same day has the same tests. */
const today = Number(process.env.HOLDPOINT_DAY ?? Math.floor(Date.now() / 86_400_000));

/** A part of a list each day, of `count` items, until every item had its day. */
export const todaysOf = <Item>(all: readonly Item[], count: number): Item[] =>
  all.filter((_, at) => Math.floor(at / count) === today % Math.ceil(all.length / count));

/** `npm test` runs another eighth of a list each day. These are the others. */
const othersOf = (files: readonly string[]): string[] => files.filter((_, at) => at % parts !== today % parts);

/** Files that `npm test` leaves out today. */
export const notToday = [fullForms, manySeconds, ownSystems].flatMap(othersOf);

/**
 * What depends on the form of trees: once on copies, because the sources of tests have fewer files than stand on layers by default, and once
 * more on layers where the host can mount them.
 */
export const forms = [
  'packages/workspace/src/run/{take-over.race,inspect-tree.recover,workspace.fork}.test.ts',
  'packages/workspace/src/snapshots/{snapshot.create,restore.recover}.test.ts',
  'packages/workspace/src/{maintenance,prepared}/**/*.test.ts',
  'tests/runs/{runs.fork,deterministic.create}.test.ts',
].flatMap(found);
/** Files whose other form `npm test` leaves out today. */
export const formsNotToday = othersOf(forms);
