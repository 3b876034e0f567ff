import { attribute, type EndedSpans, genAi, general, type TraceSpan } from '@holdpoint/contract';
import { boundLabel, otherLabel } from './bound-label.ts';
import type { Metrics, Origin } from './metrics.ts';

interface Known {
  /** Names of the tools of this installation. A model may write any other. */
  tools: Iterable<string>;
  /** `provider/model`, as the operator named them. A run may name any other. */
  models: Iterable<string>;
}

const mostModels = 30;
const mostReasons = 60;

/** Counts what runs did, from spans that are over: a `TelemetryPort` of the engine. */
export function countSpans(metrics: Metrics, { tools, models }: Known) {
  const labels: Bounded = {
    tool: boundLabel({ known: tools }),
    model: boundLabel({ known: models, most: mostModels }),
    reason: boundLabel({ most: mostReasons }),
  };
  return {
    async take(batch: readonly EndedSpans[]): Promise<void> {
      for (const { run_id, trace_id, spans } of batch) {
        for (const span of spans) {
          countSpan(metrics, labels, { span, origin: { trace_id, span_id: span.span_id, run_id } });
        }
      }
    },
  };
}

type Bounded = Record<'tool' | 'model' | 'reason', (value: string) => string>;

interface Counted {
  span: TraceSpan;
  origin: Origin;
}

function countSpan(metrics: Metrics, bounded: Bounded, { span, origin }: Counted): void {
  const seconds = span.end === null ? 0 : (Date.parse(span.end) - Date.parse(span.start)) / 1000;
  const text = (name: string): string | undefined => {
    const value = span.attributes[name];
    return value === undefined ? undefined : String(value);
  };
  const known = (name: string): string => text(name) ?? otherLabel;
  const tool = (): string => bounded.tool(known(genAi.toolName));
  switch (span.kind) {
    case 'run': {
      const [outcome, planner, code] = [known(attribute.runOutcome), known(attribute.planner), text(general.errorType)];
      const reason = code && bounded.reason(code);
      metrics.count('runsEnded', { outcome, planner, ...(reason && { reason }) }, 1, origin);
      metrics.record('runDuration', seconds, { outcome, planner }, origin);
      return;
    }
    case 'segment':
      return metrics.record('segmentDuration', seconds, { state: known(attribute.segmentState) }, origin);
    case 'turn':
      metrics.record('turnDuration', seconds, { operation: known(genAi.operation) }, origin);
      return countUsage(metrics, bounded, { span, origin });
    case 'step':
      metrics.record('stepDuration', seconds, { tool: tool(), outcome: known(attribute.stepOutcome) }, origin);
      return countUsage(metrics, bounded, { span, origin });
    case 'attempt':
      return metrics.record(
        'attemptDuration',
        seconds,
        { tool: tool(), outcome: known(attribute.attemptOutcome) },
        origin,
      );
    case 'wait': {
      if (text(attribute.approvalId) !== undefined) {
        const [kind, decision] = [known(attribute.approvalKind), known(attribute.decision)];
        return metrics.record('decisionDuration', seconds, { kind, decision }, origin);
      }
      // Turns wait in a queue, too: only a step has a tool.
      if (text(attribute.waitFor) !== 'queue' || text(attribute.stepId) === undefined) return;
      return metrics.record('queueWait', seconds, { tool: tool() }, origin);
    }
    case 'task': {
      const [kind, outcome] = [known(attribute.taskKind), known(attribute.taskOutcome)];
      return metrics.record('taskDuration', seconds, { kind, outcome }, origin);
    }
    case 'publish': {
      // Its validators are spans of the same kind, without an outcome.
      const outcome = text(attribute.publishOutcome);
      return outcome === undefined ? undefined : metrics.record('publishDuration', seconds, { outcome }, origin);
    }
    case 'workspace':
      return;
    default:
      span.kind satisfies never;
  }
}

/** Tokens and cost of a turn, or of a call whose tool asked a model. */
function countUsage(metrics: Metrics, bounded: Bounded, { span: { attributes }, origin }: Counted): void {
  const name = attributes[genAi.requestModel];
  const [provider, model] = nameOf(bounded.model, attributes[genAi.provider], name);
  const common = {
    'gen_ai.operation.name': String(attributes[genAi.operation] ?? otherLabel),
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
  };
  for (const [type, tokens] of [
    ['input', attributes[genAi.inputTokens]],
    ['output', attributes[genAi.outputTokens]],
  ] as const) {
    if (typeof tokens === 'number') metrics.record('tokens', tokens, { ...common, 'gen_ai.token.type': type }, origin);
  }
  const cost = attributes[attribute.costMicros];
  if (typeof cost === 'number') metrics.count('cost', { 'gen_ai.request.model': model }, cost / 1e6, origin);
}

type Value = TraceSpan['attributes'][string] | undefined;

/** Provider and model have one bound together. */
function nameOf(bound: (value: string) => string, provider: Value, model: Value): [string, string] {
  if (provider === undefined || model === undefined) return [otherLabel, otherLabel];
  const name = bound(`${provider}/${model}`);
  return name === otherLabel ? [otherLabel, otherLabel] : [String(provider), String(model)];
}
