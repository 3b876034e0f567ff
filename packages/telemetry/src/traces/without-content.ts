import type { TraceSpan } from '@holdpoint/contract';
import { genAi, general, spanName } from '@holdpoint/contract/names';

/** A call of an unknown tool: the model made the tool's name up, so the name is content. */
export function withoutContent(span: TraceSpan): TraceSpan {
  if (span.attributes[general.errorType] !== unknownTool || span.kind !== 'step') return span;
  const { [genAi.toolName]: _name, ...attributes } = span.attributes;
  return { ...span, name: spanName.step('unknown'), attributes };
}

const unknownTool = 'EUNKNOWNTOOL';
