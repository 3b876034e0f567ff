import { expect, test } from 'vitest';
import { useMcpWorkspaces } from '../testing/mcp-workspace.ts';
import { runConversation } from './run-conversation.ts';

const open = useMcpWorkspaces();

test('a command that does not read its input is ended before the worker holds much of it', async () => {
  const { sandbox, mount } = open('');
  const { signal } = new AbortController();
  const line = 'x'.repeat(1024 * 1024);
  let sent = 0;
  const { end } = await runConversation(
    sandbox,
    { argv: ['/bin/sleep', '60'], workspace: mount, signal, stop: signal },
    async ({ send, receive }) => {
      let isOver = false;
      void receive().then(() => {
        isOver = true;
      });
      while (!isOver && sent < 4000) {
        send(line);
        sent += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  );
  expect(end).toMatchObject({ status: 'killed' });
  expect(sent).toBeGreaterThan(100);
  expect(sent).toBeLessThan(4000);
});
