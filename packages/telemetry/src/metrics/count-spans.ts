import type { EndedSpans, TraceSpan } from '@holdpoint/contract';
import { attribute, genAi, genAiModel, general } from '@holdpoint/contract/names';
import type { Metrics, Origin } from './metrics.ts';

/** The label for values beyond their bound. */
const otherLabel = 'other';

/**
 * Keeps a label to few values: the known values, and the first `most` others. Without the bound each name made up by a caller would begin a
 * series, kept until the process ends.
 */
export function boundLabel({ known = [], most = 0 }: { known?: Iterable<string>; most?: number }) {
  const values = new Set(known);
  const full = values.size + most;
  return (value: string): string => {
    if (values.has(value)) return value;
    if (values.size >= full || !isLabel(value)) return otherLabel;
    values.add(value);
    return value;
  };
}

/** Control characters and long texts are no names. */
const isLabel = (value: string): boolean => /^[\x21-\x7e]{1,80}$/.test(value);

/** The labels of a model on every series. Provider and model share a bound. @param known `provider/model`, as the operator names models */
export function boundModel({ known, most }: { known: Iterable<string>; most: number }) {
  const keyOf = ({ provider, model }: { provider: string; model: string }): string => `${provider}/${model}`;
  const bound = boundLabel({ known: [...known].map((name) => keyOf(genAiModel(name))), most });
  return (named: { provider: string; model: string } | undefined) => {
    const isKept = named !== undefined && bound(keyOf(named)) !== otherLabel;
    const { provider, model } = isKept ? named : { provider: otherLabel, model: otherLabel };
    return { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model };
  };
}

interface Known {
  /** Names of the tools of this installation. A model may write any other. */
  tools: Iterable<string>;
  /** `provider/model`, as the operator named them. A run may name any other. */
  models: Iterable<string>;
}

const mostModels = 30;
const mostReasons = 60;

/** Counts the work of runs, from ended spans: a `TelemetryPort` of the engine. */
export function countSpans(metrics: Pick<Metrics, 'count' | 'record'>, { tools, models }: Known) {
  const bounded: Bounded = {
    tool: boundLabel({ known: tools }),
    model: boundModel({ known: models, most: mostModels }),
    reason: boundLabel({ most: mostReasons }),
  };
  return {
    async take(batch: readonly EndedSpans[]): Promise<void> {
      for (const { run_id, trace_id, spans } of batch) {
        for (const span of spans) {
          const text = (name: string): string | undefined => span.attributes[name]?.toString();
          const seconds = span.end === null ? 0 : (Date.parse(span.end) - Date.parse(span.start)) / 1000;
          const origin = { trace_id, span_id: span.span_id, run_id };
          const label = (name: string): string => text(name) ?? otherLabel;
          countByKind[span.kind]({ metrics, bounded, span, seconds, origin, text, label });
        }
      }
    },
  };
}

interface Bounded extends Record<'tool' | 'reason', (value: string) => string> {
  model: ReturnType<typeof boundModel>;
}

interface Counted {
  metrics: Pick<Metrics, 'count' | 'record'>;
  bounded: Bounded;
  span: TraceSpan;
  seconds: number;
  origin: Origin;
  /** The text of an attribute. */
  text(name: string): string | undefined;
  /** The same; `other` for an absent attribute. */
  label(name: string): string;
}

const countByKind: Record<TraceSpan['kind'], (counted: Counted) => void> = {
  run({ metrics, bounded, seconds, origin, text, label }) {
    const [outcome, planner, code] = [label(attribute.runOutcome), label(attribute.planner), text(general.errorType)];
    const reason = code && bounded.reason(code);
    metrics.count('runsEnded', { outcome, planner, ...(reason && { reason }) }, 1, origin);
    metrics.record('runDuration', seconds, { outcome, planner }, origin);
  },
  segment: ({ metrics, seconds, origin, label }) =>
    metrics.record('segmentDuration', seconds, { state: label(attribute.segmentState) }, origin),
  turn(counted) {
    const { metrics, seconds, origin, label } = counted;
    countCompaction(counted);
    // The model adapter counts a request without an answer.
    if (counted.span.status === 'error') return;
    metrics.record('turnDuration', seconds, { operation: label(genAi.operation) }, origin);
    countUsage(counted);
  },
  step(counted) {
    const { metrics, seconds, origin, label } = counted;
    const labels = { tool: toolOf(counted), outcome: label(attribute.stepOutcome) };
    metrics.record('stepDuration', seconds, labels, origin);
    const verdict = counted.text(attribute.verdict);
    if (verdict !== undefined) metrics.count('gateVerdicts', { tool: labels.tool, verdict }, 1, origin);
    countUsage(counted);
  },
  attempt(counted) {
    const { metrics, seconds, origin, label } = counted;
    const labels = { tool: toolOf(counted), outcome: label(attribute.attemptOutcome) };
    metrics.record('attemptDuration', seconds, labels, origin);
  },
  wait(counted) {
    const { metrics, seconds, origin, text, label } = counted;
    if (text(attribute.approvalId) !== undefined) {
      const labels = { kind: label(attribute.approvalKind), decision: label(attribute.decision) };
      metrics.record('decisionDuration', seconds, labels, origin);
    }
    // Turns wait in a queue, too: only a step has a tool.
    if (text(attribute.waitFor) === 'queue' && text(attribute.stepId) !== undefined) {
      metrics.record('queueWait', seconds, { tool: toolOf(counted) }, origin);
    }
  },
  task: ({ metrics, seconds, origin, label }) =>
    metrics.record(
      'taskDuration',
      seconds,
      { kind: label(attribute.taskKind), outcome: label(attribute.taskOutcome) },
      origin,
    ),
  publish({ metrics, seconds, origin, text }) {
    // Its validators are spans of the same kind, without an outcome.
    const outcome = text(attribute.publishOutcome);
    if (outcome !== undefined) metrics.record('publishDuration', seconds, { outcome }, origin);
  },
  workspace: () => undefined,
  // Its requests and its steps are counted.
  iteration: () => undefined,
};

const toolOf = ({ bounded, label }: Counted): string => bounded.tool(label(genAi.toolName));

/** The labels of the model of a span. */
function modelOf({ bounded, text }: Counted) {
  const [provider, model] = [text(genAi.provider), text(genAi.requestModel)];
  return bounded.model(provider !== undefined && model !== undefined ? { provider, model } : undefined);
}

function countCompaction(counted: Counted): void {
  const { metrics, span, origin, text } = counted;
  if (text(attribute.compaction) === undefined) return;
  const outcome = span.status === 'error' ? 'failed' : 'succeeded';
  metrics.count('compactions', { ...modelOf(counted), outcome }, 1, origin);
}

/** Tokens and cost of a turn, or of a call whose tool asked a model. */
function countUsage(counted: Counted): void {
  const { metrics, span, origin } = counted;
  const { attributes } = span;
  const labels = modelOf(counted);
  const common = {
    'gen_ai.operation.name': String(attributes[genAi.operation] ?? otherLabel),
    ...labels,
  };
  for (const [type, tokens] of [
    ['input', attributes[genAi.inputTokens]],
    ['output', attributes[genAi.outputTokens]],
  ] as const) {
    if (typeof tokens === 'number') metrics.record('tokens', tokens, { ...common, 'gen_ai.token.type': type }, origin);
  }
  // 0 as well: a share of 0 differs from an unknown share.
  if (typeof attributes[genAi.inputTokens] === 'number')
    metrics.count('cachedTokens', labels, Number(attributes[genAi.cacheReadTokens] ?? 0), origin);
  const cost = attributes[attribute.costMicros];
  if (typeof cost === 'number') metrics.count('cost', labels, cost / 1e6, origin);
}
