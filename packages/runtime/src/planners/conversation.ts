import { fixedTime, type RunSpec } from '@holdpoint/contract';
import type { PastConversation, PastTurn, SettledStep } from '@holdpoint/engine/worker';
import type { ModelAnswer, ModelMessage } from '@holdpoint/models';
import type { Registry } from '@holdpoint/tools';
import { decisionNote } from './decision-note.ts';

/** The log as the conversation it was. */
export function conversation(
  registry: Registry,
  spec: RunSpec,
  prompt: string,
  { turns, unread }: PastConversation,
): ModelMessage[] {
  const refused = refusalsOf(registry, spec);
  const messages: ModelMessage[] = [{ role: 'user', text: prompt }];
  for (const turn of turns) {
    messages.push(...turn.readMessages.map(fromPerson));
    // Providers refuse an answer without content.
    if (!isEmpty(answerOf(turn))) messages.push({ role: 'assistant', answer: answerOf(turn) });
    const results = [...turn.steps.map(result), ...refused(turn)];
    if (results.length > 0) messages.push({ role: 'tool', results });
    if (turn.note !== undefined) messages.push({ role: 'user', text: turn.note.text });
  }
  messages.push(...unread.map(fromPerson));
  return messages;
}

interface ToolResult {
  id: string;
  tool: string;
  text: string;
  is_error: boolean;
}

/** Every call of an answer needs a result, also the calls beyond the limit of a turn. They are no steps. */
const refusalsOf =
  (registry: Registry, { toolset, settings, modes }: RunSpec) =>
  (turn: PastTurn): ToolResult[] => {
    const { steps, refused: error, at } = turn;
    if (error === undefined) return [];
    const made = new Set(steps.map((step) => step.call_id));
    const left = answerOf(turn).calls.filter(({ id }) => !made.has(id));
    const when = modes.deterministic ? new Date(fixedTime).toISOString() : at;
    const times = { created_at: when, started_at: null, settled_at: when, queued_ms: 0, duration_ms: 0 };
    return left.map(({ id, tool, args }) => {
      const call = { tool, args, status: 'rejected' as const, error, times, settings, modes };
      return { id, tool, text: JSON.stringify(registry.present(toolset, call)), is_error: true };
    });
  };

/** The answer that this planner recorded with the turn. */
const answerOf = ({ answer }: PastTurn) => answer as ModelAnswer;

const isEmpty = ({ text, calls }: ModelAnswer): boolean => text.trim() === '' && calls.length === 0;

const fromPerson = (text: string): ModelMessage => ({ role: 'user', text });

function result(step: SettledStep): ToolResult {
  const is_error = step.status !== 'succeeded';
  const text = JSON.stringify(step.native ?? null);
  const note = decisionNote(step);
  // An error begins with what went wrong.
  const parts = is_error ? [text, note] : [note, text];
  return { id: step.call_id ?? step.id, tool: step.tool, text: parts.filter(Boolean).join('\n'), is_error };
}
