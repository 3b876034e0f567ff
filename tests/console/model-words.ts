import type { LLMock } from '@copilotkit/aimock';

/** What the model of the shared system answers to a prompt with `say hostile words`. */
export const hostileWords =
  "<img src=x onerror=alert('model')> [read](javascript:alert(1)) a\u202Eb\u0007 <script>alert('model')</script>";

/** A comment on a line that the model of the shared system understands. */
export const askedInComment = 'please call it total';

/** With `write and wait` it writes a file, and then asks for a call that is held. It answers otherwise when it has read the comment. */
export const commentReplies: Parameters<LLMock['on']>[] = [
  [
    { userMessage: 'write and wait', hasToolResult: false },
    {
      content: 'I write the file.',
      toolCalls: [call('call_1', 'write_file', { path: 'sum.ts', content: 'one\ntwo\nconst x = 1;\nfour\n' })],
    },
  ],
  [
    { predicate: (request) => JSON.stringify(request.messages).includes(askedInComment) },
    { content: `I have read: ${askedInComment}` },
  ],
  [
    { userMessage: 'write and wait', hasToolResult: true },
    { content: 'Now the command.', toolCalls: [call('call_2', 'bash', { command: 'true' })] },
  ],
];

function call(id: string, name: string, args: object) {
  return { id, name, arguments: JSON.stringify(args) };
}
