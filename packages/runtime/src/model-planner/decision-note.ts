import type { RunDecision, SettledStep } from '@holdpoint/engine/worker';

const longestString = 4000;
const longestArgs = 16_000;

/**
 * Decisions of people about an executed call, in words for the model. The conversation keeps the call with the model's arguments, so the
 * result must say how the executed call differed.
 */
export const decisionNote = ({ decided = [] }: Pick<SettledStep, 'decided'>): string =>
  decided.map(worded).filter(Boolean).join('\n');

function worded({ decision, args, message, isIndeterminate }: RunDecision): string {
  const said = message === undefined || message.trim() === '' ? '' : `They say: ${message}`;
  return [happened({ decision, args, isIndeterminate }, said !== ''), said].filter(Boolean).join(' ');
}

function happened({ decision, args, isIndeterminate }: Omit<RunDecision, 'message'>, hasWords: boolean): string {
  if (decision === 'edit') return `A person changed the arguments before it ran: ${shown(args)}.`;
  if (isIndeterminate) {
    return 'The worker was lost while this call ran, and it was not known whether it took effect. A person had it run again.';
  }
  return hasWords ? 'A person approved this call.' : '';
}

/** Arguments may contain a whole file; its beginning and end are enough to recognise the file. */
function shown(args: unknown): string {
  const text = JSON.stringify(args, (_key, value: unknown) =>
    typeof value === 'string' ? shortened(value, longestString) : value,
  );
  return shortened(text ?? '{}', longestArgs);
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = most / 2;
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${head}…[${text.length - most} characters are left out here]…${tail}`;
}
