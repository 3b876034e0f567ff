import { text as ask, isCancel, log } from '@clack/prompts';
import { ApiError, type Client, ConnectionError } from '@holdpoint/client';
import type { Approval, RunEvent } from '@holdpoint/contract/wire';
import { briefApproval, fold, plain } from '../output/index.ts';
import type { Shell } from '../shell/index.ts';
import { type Answer, askDecision } from './ask-decision.ts';
import { hunksText } from './conflicts.ts';
import { needsPasskey } from './decide-on-page.ts';
import { whileLooking } from './while-looking.ts';

interface DeskOptions {
  runId: string;
  /** Called before and after questions: the terminal is theirs. */
  hold(): void;
  release(): void;
  /** The person pressed Ctrl-C at a question. */
  leave(): void;
  fail(error: unknown): void;
}

/** Asks the follower of a run for its open approvals, in sequence, while its events keep coming. */
export interface ApprovalDesk {
  event(event: RunEvent): void;
  /** Ends an open question. */
  close(): Promise<void>;
}

interface Deps {
  shell: Shell;
  client: Client;
}

/** Needs a terminal. */
export function openApprovalDesk(deps: Deps, { runId, hold, release, leave, fail }: DeskOptions): ApprovalDesk {
  /** The person left these open. */
  const skipped = new Set<string>();
  const closing = new AbortController();
  let asking: { id: string; gone: AbortController } | undefined;
  let again = false;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    try {
      await askAll();
    } finally {
      // In the same moment as the last look at `again`: a later event starts the work again.
      working = undefined;
    }
  }

  async function askAll(): Promise<void> {
    do {
      again = false;
      const { data } = await deps.client.listApprovals({ run_id: runId, limit: 200 }, { signal: closing.signal });
      // The oldest first: a model waits for all of a turn, and its calls stand in this order.
      for (const { id } of data.toReversed()) {
        if (skipped.has(id) || closing.signal.aborted) continue;
        const answer = await question(id);
        if (answer === 'left') return leave();
        skipped.add(id);
      }
    } while (again && !closing.signal.aborted);
  }

  async function question(id: string): Promise<Answer> {
    const gone = new AbortController();
    asking = { id, gone };
    try {
      const approval = await deps.client.getApproval(id);
      if (approval.status !== 'pending') return 'gone';
      hold();
      const signal = AbortSignal.any([gone.signal, closing.signal]);
      return await whileLooking(deps, approval, () => askOne(deps, approval, signal));
    } catch (error) {
      if (error instanceof ApiError) return 'gone';
      throw error;
    } finally {
      asking = undefined;
      release();
    }
  }

  return {
    event(event) {
      if (isEndOf(event) && event.data.approval_id === asking?.id) asking.gone.abort();
      if (!mayAsk(event)) return;
      again = true;
      working ??= work().catch((error: unknown) => {
        if (!closing.signal.aborted) fail(error);
      });
    },
    async close() {
      closing.abort();
      await working;
    },
  };
}

/** An approval of a sub-agent is in the log of the sub-agent: here its task waits. */
const mayAsk = ({ type }: RunEvent): boolean =>
  type === 'approval.requested' || type === 'task.waiting' || type === 'run.waiting';

type Ended = Extract<RunEvent, { type: 'approval.decided' | 'approval.expired' | 'approval.canceled' }>;
const isEndOf = (event: RunEvent): event is Ended =>
  event.type === 'approval.decided' || event.type === 'approval.expired' || event.type === 'approval.canceled';

const folded = { head: 32, tail: 8 };

async function askOne(deps: Deps, approval: Approval, signal: AbortSignal): Promise<Answer> {
  const { shell } = deps;
  const brief = briefApproval(approval, { colors: shell.colors, now: Date.now() });
  const lines = [...brief, ...(await hunksText(deps, approval))].flatMap((text) => text.split('\n'));
  const shown = fold(lines, folded);
  for (const line of ['', ...shown]) shell.print(line);
  if (approval.kind === 'input' && !needsPasskey(approval, 'respond')) {
    const answer = await askAnswer(deps, approval, signal);
    if (answer !== 'menu') return answer;
  }
  return askDecision(deps, approval, { signal, unseen: shown.length < lines.length ? lines : [] });
}

/** A question to a person is answered at once. An empty answer leads to the other decisions. */
async function askAnswer({ client }: Deps, approval: Approval, signal: AbortSignal): Promise<Answer | 'menu'> {
  const { id, action_digest, allowed_decisions: allowed, preview } = approval;
  const hasOptions =
    typeof preview === 'object' && preview !== null && 'options' in preview && Array.isArray(preview.options)
      ? preview.options.length > 0
      : false;
  if (!allowed.includes('respond') || hasOptions) return 'menu';
  const message = await ask({ message: 'Your answer', placeholder: 'empty: other choices', signal });
  if (signal.aborted) return 'gone';
  if (isCancel(message)) return 'left';
  if (!message?.trim()) return 'menu';
  try {
    await client.decideApproval(id, { decision: 'respond', action_digest, message });
    return 'decided';
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error;
    log.error(plain(`${error.message}\n${error.next}`));
    return error instanceof ConnectionError ? 'menu' : 'later';
  }
}
