import * as contract from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/index.ts';
import { fromPayload, fromStored, isOfType, readRawLog } from '../log/index.ts';
import { type PastPart, searchPast, textsOf } from './search-past.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs'>;

/**
 * The run's earlier calls, up to the first attempt of a call, from the log: all attempts of the call get the same list. The log is read on
 * the first question of a tool, once per attempt. Runs whose tools never ask pay nothing.
 */
export function openPast(deps: Deps, run: Pick<RunState, 'id'>, { id }: Pick<StepState, 'id'>): contract.PastCalls {
  let found: Promise<LoggedPast> | undefined;
  const readPast = (): Promise<LoggedPast> => {
    found ??= pastBefore(deps, { runId: run.id, stepId: id });
    return found;
  };
  const read = async (): Promise<LoggedCall[]> => (await readPast()).calls.filter(isSettled);
  return {
    async last(tools, { begun = false } = {}) {
      const isWanted = ({ tool, started_at }: LoggedCall) => tools.includes(tool) && (!begun || started_at !== null);
      const call = (await read()).findLast(isWanted);
      return call && pastCall(deps, call);
    },
    async had({ tool, args }, code) {
      const wanted = contract.canonicalJson(args ?? null);
      for (const call of await read()) {
        if (call.tool !== tool || call.error?.code !== code) continue;
        // For an edited call only the edited arguments count: the original arguments did not run.
        for (const payload of call.edited ? [call.args] : [call.args, call.written ?? call.args]) {
          if (contract.canonicalJson(await fromPayload(deps.blobs, payload)) === wanted) return true;
        }
      }
      return false;
    },
    async search(words, { limit }) {
      const { calls, said } = await readPast();
      const parts = [...said.map(saidPart), ...calls.filter(isSettled).map((call) => callPart(deps, call))];
      return searchPast(
        parts.toSorted((a, b) => a.turn - b.turn),
        { words, limit },
      );
    },
  };
}

/** The calls of a run, and what people and the model said. */
interface LoggedPast {
  calls: LoggedCall[];
  said: Said[];
}

/** A message stands in the turn that reads it. */
interface Said {
  turn: number;
  kind: 'answer' | 'message';
  by?: string;
  text: string;
}

const saidPart = ({ text, ...said }: Said): PastPart => ({ ...said, texts: async () => [text] });

function callPart(deps: Deps, call: LoggedCall): PastPart {
  const { turn, tool, status = 'succeeded' } = call;
  return {
    ...{ kind: 'call', turn, tool, status },
    async texts() {
      const { args, value, error } = await pastCall(deps, call);
      // The tool comes last: an excerpt of its name says least.
      return [
        ...textsOf(args as contract.Json),
        ...textsOf(value),
        ...(error === undefined ? [] : [error.message]),
        tool,
      ];
    },
  };
}

/** A call in the log. */
interface LoggedCall {
  id: string;
  turn: number;
  tool: string;
  args: contract.Payload;
  written?: contract.Payload | undefined;
  /** A person replaced the arguments: `args` ran. */
  edited?: true;
  started_at: string | null;
  status?: contract.SettledStatus;
  value?: contract.Payload | undefined;
  error?: contract.Problem | undefined;
}

const isSettled = ({ status }: LoggedCall): boolean => status !== undefined;

async function pastCall(deps: Deps, call: LoggedCall): Promise<contract.PastCall> {
  const { id, tool, args, written = args, status = 'succeeded', value, error, started_at } = call;
  return {
    step_id: id,
    tool,
    args: await fromPayload(deps.blobs, written),
    edited: call.edited && (await fromPayload(deps.blobs, args)),
    status,
    value: value && ((await fromPayload(deps.blobs, value)) as contract.Json),
    error,
    started_at,
  };
}

/**
 * The calls of a run that no undo removed, in the order of their settling, and what was said in the turns before.
 * @param until the sequence number of the last event to read. @param stepId the asking call: events after its start do not count
 */
async function pastBefore(
  deps: Deps,
  { runId, until = Number.POSITIVE_INFINITY, stepId }: { runId: string; until?: number; stepId?: string },
): Promise<LoggedPast> {
  const calls = new Map<string, LoggedCall>();
  let said: Said[] = [];
  let seq = 0;
  for await (const text of readRawLog(deps.redis, runId)) {
    seq += 1;
    if (seq > until) break;
    if (!mayCount(text)) continue;
    const event = fromStored(runId, seq, text);
    if (event.type === 'step.started' && event.step_id === stepId) break;
    if (event.type === 'run.created') {
      const inherited = await inheritedPast(deps, event.data.forked_from);
      for (const call of inherited.calls) calls.set(call.id, call);
      said = inherited.said;
    } else noteOf.get(event.type)?.(calls, event);
    if (event.type === 'message.received') {
      const { text: words, by } = event.data;
      said.push({
        turn: (said.findLast(({ kind }) => kind === 'answer')?.turn ?? 0) + 1,
        kind: 'message',
        by,
        text: words,
      });
    }
    if (event.type === 'turn.planned') said.push({ turn: event.data.turn, kind: 'answer', text: event.data.message });
    // An undo keeps what people said.
    if (event.type === 'run.rewound') {
      const { turn } = event.data;
      said = said.filter((one) => one.kind === 'message' || one.turn <= turn);
    }
  }
  return { calls: [...calls.values()], said };
}

async function inheritedPast(deps: Deps, from: contract.ForkedFrom | undefined): Promise<LoggedPast> {
  if (from === undefined) return { calls: [], said: [] };
  const { calls, said } = await pastBefore(deps, { runId: from.run_id, until: from.seq });
  return {
    calls: calls.filter(({ turn, status }) => turn <= from.turn && status !== undefined),
    said: said.filter(({ turn }) => turn <= from.turn),
  };
}

type StepEvent = Extract<contract.EventType, `step.${string}`>;
type Note<Type extends contract.EventType> =
  | ((calls: Map<string, LoggedCall>, event: contract.EventOf<Type>) => void)
  | undefined;

const settle: Note<contract.StepSettled['type']> = (calls, event) => {
  const call = calls.get(event.step_id);
  if (call === undefined) return;
  const { value, error, times } = event.data;
  const status = event.type.slice('step.'.length) as contract.SettledStatus;
  // The map ends with the call that settled last.
  calls.delete(call.id);
  calls.set(call.id, { ...call, status, value, error, started_at: times?.started_at ?? call.started_at });
};

/** The facts of each event about earlier calls; undefined: none. The compiler names a step event without an entry. */
const notes: { [Type in StepEvent | 'run.rewound']: Note<Type> } = {
  'step.created': (calls, { step_id, data: { turn, tool, args, written } }) => {
    calls.set(step_id, { id: step_id, turn, tool, args, written, started_at: null });
  },
  'step.queued': (calls, { step_id, data: { args, written } }) => {
    const call = calls.get(step_id);
    if (call !== undefined && args !== undefined)
      Object.assign(call, { args, written: written ?? call.args, edited: true });
  },
  'step.started': (calls, { step_id, time }) => {
    const call = calls.get(step_id);
    if (call !== undefined) call.started_at ??= time;
  },
  'step.held': (calls, { step_id }) => {
    const call = calls.get(step_id);
    if (call !== undefined) call.started_at = null;
  },
  'step.asked': undefined,
  'step.deferred': undefined,
  'step.model_used': undefined,
  'step.cancel_requested': undefined,
  'step.retried': undefined,
  'step.indeterminate': undefined,
  'step.succeeded': settle,
  'step.failed': settle,
  'step.killed': settle,
  'step.timed_out': settle,
  'step.rejected': settle,
  'step.expired': settle,
  'step.canceled': settle,
  'run.rewound': (calls, { data }) => {
    for (const { id } of data.undone) calls.delete(id);
  },
};
const noteOf = new Map(
  Object.entries(notes).filter((entry): entry is [string, Note<contract.EventType> & {}] => entry[1] !== undefined),
);

/** Most events of a log are no calls. Parsing all events takes ten times as long as filtering their texts. */
const mayCount = (text: string): boolean => relevant.test(text);
const relevant = isOfType(
  ['run.created', 'turn.planned', 'message.received', ...noteOf.keys()].map(RegExp.escape).join('|'),
);
