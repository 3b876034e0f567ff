import { type LongResult, outputsFolder, type ToolOutcome } from '@holdpoint/contract';
import type { WholeOutput } from '@holdpoint/sandbox';
import type { Redactor } from '@holdpoint/secrets';
import { type OutcomeText, type Registry, type TextWork, TextWorkError } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import type { ResultBytes } from '../result-bytes.ts';

interface Deps {
  registry: Pick<Registry, 'outcomeText' | 'resultBytes'>;
  workspaces: Pick<Workspaces, 'keepOutput'>;
  resultBytes: ResultBytes;
  redactor: Redactor;
  text: TextWork;
  warn(error: unknown): void;
}

interface Made {
  runId: string;
  toolset: string;
  tool: string;
  outcome: Exclude<ToolOutcome, { status: 'deferred' }>;
  /** The output of the call's commands, uncut as far as memory allows. */
  printed: WholeOutput;
}

/** The parts of a too long result for the model, with the whole text in a file of the run; undefined for a result that fits. */
export async function longResult(deps: Deps, made: Made): Promise<LongResult | undefined> {
  const { toolset, tool, runId } = made;
  const shown = deps.registry.outcomeText(toolset, made);
  const { usual, byTool } = deps.resultBytes;
  const most = byTool[tool] ?? deps.registry.resultBytes(toolset, tool) ?? usual;
  if (shown === undefined || sizeOf(shown) <= most) return undefined;
  try {
    const { dropped, ...whole } = await wholeText(deps, shown, made.printed);
    const { whole: text, ...parts } = await deps.text.run('long', { ...whole, most });
    if (parts.bytes <= most) return undefined;
    return { ...parts, dropped, path: await keep(deps, { runId, label: tool, text }) };
  } catch (error) {
    // The request then has as much of the value as usual.
    if (!(error instanceof TextWorkError)) throw error;
    deps.warn(error);
    return undefined;
  }
}

/** At most: colours and controls are not removed yet. */
const sizeOf = (shown: OutcomeText): number =>
  shown.kind === 'text' ? Buffer.byteLength(shown.text) : Buffer.byteLength(shown.stdout + shown.stderr) + 1;

interface WholeText {
  text: string;
  stderr?: string | undefined;
  isOutput: boolean;
  dropped?: number | undefined;
}

/** Redacted once more: colours within a secret hide the secret from the filter of the command. */
async function wholeText({ redactor, text }: Deps, shown: OutcomeText, printed: WholeOutput): Promise<WholeText> {
  if (shown.kind === 'text') return { text: redactor.text(shown.text), isOutput: shown.isOutput };
  const { dropped, ...streams } = shown.isCut && !printed.isEmpty ? printed.read() : { ...shown, dropped: 0 };
  const { stdout, stderr } = await text.run('printed', { stdout: streams.stdout, stderr: streams.stderr });
  return {
    ...{ text: redactor.text(stdout), stderr: redactor.text(stderr), isOutput: true },
    dropped: dropped === 0 ? undefined : dropped,
  };
}

/** Undefined where the disk takes no file: the result is settled all the same. */
async function keep(
  { workspaces, warn }: Deps,
  output: { runId: string; label: string; text: string },
): Promise<string | undefined> {
  try {
    const { name } = await workspaces.keepOutput(output);
    return `${outputsFolder}/${name}`;
  } catch (error) {
    warn(error);
    return undefined;
  }
}
