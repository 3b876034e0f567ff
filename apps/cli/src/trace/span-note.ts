import { attribute, genAi, general } from '@holdpoint/contract';
import type { TraceSpan } from '@holdpoint/contract/wire';
import { oneLine } from '../output/index.ts';

/** A person's further facts about a span, after its name and time. */
export function spanNote(span: TraceSpan): string {
  const { attributes: of, links, events } = span;
  const text = (name: string): string | undefined =>
    of[name] === undefined ? undefined : oneLine(String(of[name]), 60);
  const parts: (string | undefined | false)[] = [];
  switch (span.kind) {
    case 'run':
      parts.push(text(attribute.runOutcome), links.map(linkText).join(', '));
      break;
    case 'segment':
      parts.push(text(attribute.segmentReason));
      break;
    case 'iteration':
      break;
    case 'turn':
      parts.push(tokens(span), text(genAi.finishReasons), differentModel(span));
      break;
    case 'step':
      parts.push(
        unlessOk(span, attribute.stepOutcome),
        Number(of[attribute.attempts]) > 1 && `${of[attribute.attempts]} attempts`,
      );
      parts.push(of[attribute.inheritedFrom] !== undefined && 'from the other run');
      break;
    case 'attempt':
      parts.push(unlessOk(span, attribute.attemptOutcome), text(attribute.worker), exitCode(span));
      break;
    case 'wait':
      parts.push(text(attribute.decision), of[attribute.decidedBy] !== undefined && `by ${text(attribute.decidedBy)}`);
      parts.push(of[attribute.ruleId] !== undefined && `by the rule ${text(attribute.ruleId)}`);
      break;
    case 'task':
      parts.push(unlessOk(span, attribute.taskOutcome), exitCode(span), links.map(linkText).join(', '));
      break;
    case 'workspace':
      parts.push(text(attribute.worker));
      break;
    case 'publish':
      parts.push(text(attribute.publishOutcome));
      break;
    default:
      span.kind satisfies never;
  }
  parts.push(text(general.errorType), span.end === null && 'not over', repairs(events));
  return [...new Set(parts.filter(Boolean))].join(', ');
}

const unlessOk = ({ status, attributes }: TraceSpan, name: string): string | undefined =>
  status === 'ok' || attributes[name] === undefined ? undefined : String(attributes[name]);

const exitCode = ({ attributes }: TraceSpan): string | undefined =>
  attributes[general.exitCode] === undefined ? undefined : `exit code ${attributes[general.exitCode]}`;

function tokens({ attributes }: TraceSpan): string | undefined {
  const read = attributes[genAi.inputTokens];
  return read === undefined ? undefined : `${read} + ${attributes[genAi.outputTokens]} tokens`;
}

/** Providers answer with a dated name of the requested model, or with another model. */
function differentModel({ attributes }: TraceSpan): string | undefined {
  const by = attributes[genAi.responseModel];
  return by === undefined || by === attributes[genAi.requestModel] ? undefined : `by ${oneLine(String(by), 40)}`;
}

const linkText = ({ attributes }: TraceSpan['links'][number]): string =>
  [attributes[attribute.linkType], attributes[attribute.linkedRunId]]
    .filter(Boolean)
    .join(' ')
    .replaceAll('_of', ' of');

function repairs(events: TraceSpan['events']): string | undefined {
  const found = events.filter(({ name }) => name === 'run repaired');
  return found.length === 0
    ? undefined
    : `repaired: ${found.map(({ attributes }) => attributes[attribute.repairClass]).join(', ')}`;
}
