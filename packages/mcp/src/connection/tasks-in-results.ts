import { type CallToolResult, isJSONRPCResultResponse, type Transport } from '@modelcontextprotocol/client';

const mark = 'holdpoint/task';

/** Lets tasks pass in the place of results. The library knows no tasks here: it gets an empty result with the task in `_meta`. */
export function markTasks(transport: Transport): void {
  const pass = transport.onmessage;
  if (pass === undefined) return;
  transport.onmessage = (message, extra) => {
    if (!isJSONRPCResultResponse(message) || message.result.resultType !== 'task') return pass(message, extra);
    const result = { resultType: 'complete', content: [], _meta: { [mark]: message.result } };
    return pass({ ...message, result }, extra);
  };
}

/** The task of an answer; undefined for another answer. */
export const taskIn = ({ _meta }: Pick<CallToolResult, '_meta'>): unknown => _meta?.[mark];
