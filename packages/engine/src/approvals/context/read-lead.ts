import type { DecisionKind, EventOf, LoggedEvent, RunSpec } from '@holdpoint/contract';
import type { EngineDeps } from '../../deps.ts';
import type { RunState } from '../../domain/index.ts';
import * as runLog from '../../log/index.ts';
import { describeCall } from '../describe-call.ts';
import type { ApprovalView } from '../view-approval.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>;

interface LastDecision {
  approval_id: string;
  decision: DecisionKind;
  by: string;
  at: string;
}

/** The part of the run between the last decision of a person and a question. */
export interface Lead {
  /** The turn of the call, and what the model said with it. */
  turn: number | undefined;
  message: string | undefined;
  /** Undefined: no person has decided before in this run. */
  since: LastDecision | undefined;
  /** Files that calls named to read. */
  files: string[];
  /** `host:port` of connections that were made. */
  hosts: string[];
  /** Command lines, which may have read more. */
  commands: string[];
  /** Calls since the decision. */
  calls: number;
  /** The lists are not complete: there was more than is looked at, or than is shown. */
  isCut: boolean;
}

/** Caps the entries of the log that one answer looks at, the calls whose arguments are read, and what is listed. */
const mostEntries = 5000;
const mostCalls = 300;
const mostListed = 100;

type Step = EventOf<'step.created'>;

export async function readLead(deps: Deps, view: ApprovalView): Promise<Lead> {
  const { run, approval } = view;
  const spec = await runLog.readSpec(deps, run);
  const found: Found = { steps: [], hosts: new Set(), since: undefined, message: undefined, isCut: false };
  let looked = 0;
  for await (const { seq, text } of runLog.readRawLogBackwards(deps.redis, run.id, {
    before: await beginOf(deps, view),
  })) {
    if (++looked > mostEntries) found.isCut = true;
    if (found.isCut || found.since !== undefined) break;
    if (!isWanted.test(text)) continue;
    const event = await runLog.readEntry(`${run.id}:${seq}`, () => runLog.fromStored(run.id, seq, text));
    if (event instanceof runLog.Damaged) found.isCut = true;
    else note(found, event, view);
  }
  const touched = await touchedBy(deps, run, spec, found.steps.slice(0, mostCalls));
  const lists = {
    files: touched.files,
    hosts: new Set([...touched.hosts, ...found.hosts]),
    commands: touched.commands,
  };
  return {
    turn: view.subject === 'step' ? view.step.call.turn : undefined,
    message: found.message,
    since: found.since?.approval_id === approval.id ? undefined : found.since,
    files: [...lists.files].slice(0, mostListed),
    hosts: [...lists.hosts].slice(0, mostListed),
    commands: [...lists.commands].slice(0, mostListed),
    calls: found.steps.length,
    isCut: found.isCut || found.steps.length > mostCalls || Object.values(lists).some((list) => list.size > mostListed),
  };
}

/** The event behind the question: what came later did not lead to it. */
const beginOf = async ({ redis }: Deps, { run, approval }: ApprovalView): Promise<number> =>
  (await runLog.seqBefore(redis, run.id, Date.parse(approval.request.requested_at) + 1)) + 1;

interface Found {
  steps: Step[];
  hosts: Set<string>;
  since: LastDecision | undefined;
  message: string | undefined;
  isCut: boolean;
}

const isWanted = runLog.isOfType(
  ['turn.planned', 'step.created', 'network.connected', 'approval.decided'].map(RegExp.escape).join('|'),
);

function note(found: Found, event: LoggedEvent, view: ApprovalView): void {
  switch (event.type) {
    case 'turn.planned':
      if (view.subject === 'step' && event.data.turn === view.step.call.turn) found.message ??= event.data.message;
      return;
    case 'step.created':
      if (view.subject !== 'step' || event.step_id !== view.step.id) found.steps.push(event);
      return;
    case 'network.connected':
      if (event.data.verdict === 'allowed') found.hosts.add(`${event.data.host}:${event.data.port}`);
      return;
    case 'approval.decided': {
      const { approval_id, decision, by, rule_id, expired } = event.data;
      // A remembered rule and a deadline are no person who looked.
      if (approval_id === view.approval.id || rule_id !== undefined || expired) return;
      found.since = { approval_id, decision, by, at: event.time };
      return;
    }
    default:
  }
}

async function touchedBy(deps: Deps, run: RunState, spec: RunSpec, steps: readonly Step[]) {
  const [files, hosts, commands] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { data } of steps) {
    const args = await runLog.readEntry('', () => runLog.fromPayload(deps.blobs, data.args));
    const described =
      args instanceof runLog.Damaged ? undefined : describeCall(deps, spec, { run, tool: data.tool, args });
    if (described?.ok !== true || described.touches === undefined) continue;
    const { paths, command, argv } = described.touches;
    for (const { path, access } of paths) if (access === 'read') files.add(path);
    const line = command ?? argv?.join(' ');
    if (line !== undefined) commands.add(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
    for (const host of described.touches.hosts) hosts.add(host);
  }
  return { files, hosts, commands };
}

const longestLine = 300;
