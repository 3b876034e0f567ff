import type { CallDescription, DecisionKind, EventOf, Json, LoggedEvent, RunSpec, Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../../deps.ts';
import { callDigest } from '../../domain/index.ts';
import * as runLog from '../../log/index.ts';
import { describeCall } from '../describe-call.ts';
import { proposedRule } from '../remembered-rules.ts';
import type { ApprovalView, StepApproval } from '../view-approval.ts';
import { type Lead, readLead } from './read-lead.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>;

type DecisionCounts = Record<DecisionKind | 'expired', number>;

/** A decision of a person about an earlier call. */
interface PastDecision {
  run_id: string;
  approval_id: string;
  decision: DecisionKind | 'expired';
  by: string | undefined;
  at: string;
  isSameCall: boolean;
}

interface PastDecisions {
  /** Calls with the same parameters, as a remembered rule compares them. */
  same: DecisionCounts;
  /** These, and calls of the same tool whose command begins with the same words. */
  alike: DecisionCounts;
  /** The words; undefined: the tool runs no command, so every call of the tool counts. */
  head: string | undefined;
  /** Newest first. */
  last: PastDecision[];
  /** Runs that were looked at, newest first, and whether these are all. */
  runs: number;
  isComplete: boolean;
}

/** Caps the entries of logs and the calls that one answer looks at. */
const mostEntries = 20_000;
const mostCalls = 500;
const mostListed = 10;

/** How people decided on calls like a held one, in the newest runs of the tenant. */
async function countDecisions(deps: Deps, tenant: Tenant, view: StepApproval): Promise<PastDecisions> {
  const wanted = await wantedOf(deps, view);
  const found: PastDecision[] = [];
  const left = { entries: mostEntries, calls: mostCalls };
  let runs = 0;
  for await (const runId of runsBack(deps, tenant)) {
    if (left.entries <= 0 || left.calls <= 0) return summed(found, { ...wanted, runs, isComplete: false });
    found.push(...(await decisionsIn(deps, runId, { view, wanted, left })));
    runs += 1;
  }
  return summed(found, { ...wanted, runs, isComplete: left.entries > 0 && left.calls > 0 });
}

async function* runsBack({ redis }: Deps, tenant: Tenant): AsyncGenerator<string> {
  for (let before: string | undefined; ; ) {
    const ids = await runLog.idsBefore(redis, runLog.runIndexOf(tenant), before, 50);
    yield* ids;
    before = ids.at(-1);
    if (before === undefined) return;
  }
}

interface Wanted {
  digest: string;
  leavesOut: readonly string[];
  head: string | undefined;
  spec: RunSpec;
}

async function wantedOf(deps: Deps, view: StepApproval): Promise<Wanted> {
  const spec = await runLog.readSpec(deps, view.run);
  const call = { run: view.run, tool: view.step.call.tool, args: view.args };
  const { call_digest: digest, leaves_out: leavesOut } = proposedRule(deps, view);
  return { digest, leavesOut, head: headOf(describeCall(deps, spec, call)), spec };
}

interface Look {
  view: StepApproval;
  wanted: Wanted;
  left: { entries: number; calls: number };
}

async function decisionsIn(deps: Deps, runId: string, look: Look): Promise<PastDecision[]> {
  const { view, left } = look;
  const run = await runLog.readEntry(runId, () => runLog.readRun(deps.redis, runId));
  if (run === undefined || run instanceof runLog.Damaged || run.header.toolset !== view.run.header.toolset) return [];
  const calls = new Map<
    string,
    { created: EventOf<'step.created'>; asked: EventOf<'approval.requested'>['data'] | undefined }
  >();
  const decided: PastDecision[] = [];
  for await (const { seq, text } of runLog.readRawLogEntries(deps.redis, runId)) {
    if (--left.entries <= 0) break;
    if (!isWanted.test(text)) continue;
    const event = await runLog.readEntry(`${runId}:${seq}`, () => runLog.fromStored(runId, seq, text));
    if (event instanceof runLog.Damaged || !('step_id' in event) || event.step_id === undefined) continue;
    if (event.type === 'step.created' && event.data.tool === view.step.call.tool) {
      calls.set(event.step_id, { created: event, asked: undefined });
    }
    const call = calls.get(event.step_id);
    if (event.type === 'approval.requested' && call !== undefined) call.asked = event.data;
    const decision = call === undefined ? undefined : decisionOf(event);
    if (call?.asked === undefined || decision === undefined || call.asked.kind !== 'action') continue;
    if (decision.approval_id === view.approval.id) continue;
    left.calls -= 1;
    const match = await matchOf(deps, look, { created: call.created, reaches: call.asked.reaches });
    if (match !== undefined) decided.push({ ...decision, run_id: runId, isSameCall: match === 'same' });
  }
  return decided.reverse();
}

const isWanted = runLog.isOfType(
  ['step.created', 'approval.requested', 'approval.decided', 'approval.expired'].map(RegExp.escape).join('|'),
);

/** A remembered rule repeats a decision, and the deadline of a rule is no decision of a person. */
function decisionOf(event: LoggedEvent): Pick<PastDecision, 'approval_id' | 'decision' | 'by' | 'at'> | undefined {
  if (event.type === 'approval.expired') {
    return { approval_id: event.data.approval_id, decision: 'expired', by: undefined, at: event.time };
  }
  if (event.type !== 'approval.decided' || event.data.rule_id !== undefined) return undefined;
  const { approval_id, decision, by, expired } = event.data;
  return expired
    ? { approval_id, decision: 'expired', by: undefined, at: event.time }
    : { approval_id, decision, by, at: event.time };
}

/** `same`: a remembered rule would take the call for the held one. */
async function matchOf(
  deps: Deps,
  { view, wanted }: Look,
  { created: { data }, reaches }: { created: EventOf<'step.created'>; reaches: readonly string[] | undefined },
): Promise<'same' | 'alike' | undefined> {
  const { toolset } = view.run.header;
  const args = await runLog.readEntry('', () => runLog.fromPayload<Json>(deps.blobs, data.args));
  if (args instanceof runLog.Damaged) return undefined;
  const { tool, effect } = data;
  if (callDigest({ toolset, tool, args, effect, reaches }, wanted.leavesOut) === wanted.digest) return 'same';
  if (wanted.head === undefined) return 'alike';
  return headOf(describeCall(deps, wanted.spec, { run: view.run, tool, args })) === wanted.head ? 'alike' : undefined;
}

function summed(
  found: readonly PastDecision[],
  { head, runs, isComplete }: Pick<PastDecisions, 'head' | 'runs' | 'isComplete'>,
): PastDecisions {
  const counts = (some: readonly PastDecision[]): DecisionCounts => {
    const sums: DecisionCounts = { approve: 0, edit: 0, reject: 0, respond: 0, expired: 0 };
    for (const { decision } of some) sums[decision] += 1;
    return sums;
  };
  const same = counts(found.filter(({ isSameCall }) => isSameCall));
  return { same, alike: counts(found), head, last: found.slice(0, mostListed), runs, isComplete };
}

/** The first words of a command line, `git push` or `ls`: the program, and a subcommand where the second word looks like one. */
function headOf(described: CallDescription): string | undefined {
  if (!described.ok || described.touches === undefined) return undefined;
  const { command, argv } = described.touches;
  const [program, second = ''] = argv ?? command?.trim().split(/\s+/) ?? [];
  if (program === undefined || program === '') return undefined;
  return /^[a-z][\w:-]*$/i.test(second) ? `${program} ${second}` : program;
}

/** What led to a question, and how people answered questions like it. */
interface ApprovalContext extends Lead {
  /** Undefined for a publish: no two are alike. */
  decided: PastDecisions | undefined;
}

/** Reads the log of the run back to the last decision, and a bounded number of entries of the tenant's runs. */
export async function readContext(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  tenant: Tenant,
  view: ApprovalView,
): Promise<ApprovalContext> {
  const [lead, decided] = await Promise.all([
    readLead(deps, view),
    view.subject === 'step' ? countDecisions(deps, tenant, view) : undefined,
  ]);
  return { ...lead, decided };
}
