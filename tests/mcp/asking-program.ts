import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** A server over standard input and output, of both revisions. Its tool writes a line before its question and a line after the answer. */
serveStdio(() => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool(
    'note',
    { description: 'Adds a note.', inputSchema: z.object({ slow: z.boolean().optional() }) },
    async ({ slow = false }, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.name;
      if (answer === undefined) {
        appendFileSync('notes.txt', 'asked\n');
        const requestedSchema = z.object({ name: z.string() });
        return inputRequired({
          inputRequests: { name: inputRequired.elicit({ message: 'Whose note?', requestedSchema }) },
          requestState: 'one',
        });
      }
      appendFileSync('notes.txt', `${JSON.stringify(answer)} ${mcpReq.requestState()}\n`);
      if (slow) await wait(1500);
      return { content: [{ type: 'text', text: 'noted' }] };
    },
  );
  return server;
});
