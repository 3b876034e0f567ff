import { lineOf, toneOf } from '@holdpoint/contract';
import type { RunEvent } from '@holdpoint/contract/wire';
import { codeText, cut, nameText, oneLine } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { argsInWords, payloadValue } from './call-text.ts';
import { clock, counted, duration } from './units.ts';

const typeWidth = 'workspace.publish_requested'.length;

/** What an event says, in words that are not yet safe for a terminal. */
export const eventText = (event: RunEvent, call: string): string =>
  lineOf(event, { call, counted, duration, name: nameText, code: codeText });

export interface TimelineOptions {
  colors: Colors;
  /** Columns of a line. */
  width: number;
  /** Lines to print after an approval. */
  howToDecide(approvalId: string): string[];
}

/** Turns a run's events, in order from the first one, into lines for people. */
export function timeline({ colors, width, howToDecide }: TimelineOptions): (event: RunEvent) => string[] {
  const calls = new Map<string, string>();
  return (event) => {
    if (event.type === 'step.created') calls.set(event.step_id, callText(event.data));
    const call = callOf(event, calls);
    const detail = oneLine(eventText(event, call), Math.max(40, width - typeWidth - 12));
    const line = `${colors.dim(clock(event.time))}  ${colors[tones[toneOf(event)]](event.type.padEnd(typeWidth))}  ${detail}`;
    const more = event.type === 'approval.requested' ? howToDecide(event.data.approval_id) : [];
    return [line.trimEnd(), ...more.map((text) => `          ${text}`)];
  };
}

/** The call that an event belongs to. An approval without a step belongs to the publish. */
function callOf(event: RunEvent, calls: ReadonlyMap<string, string>): string {
  if (!('step_id' in event)) return event.type.startsWith('approval.') ? 'publish' : '';
  return event.step_id === undefined ? 'publish' : (calls.get(event.step_id) ?? event.step_id);
}

function callText({ name, tool, args }: Extract<RunEvent, { type: 'step.created' }>['data']): string {
  const label = name === undefined ? tool : `${name}: ${tool}`;
  return `${label} ${cut(argsInWords(payloadValue(args)).words, 60)}`.trim();
}

const tones = { good: 'green', bad: 'red', warning: 'yellow', faint: 'dim', plain: 'cyan' } as const;
