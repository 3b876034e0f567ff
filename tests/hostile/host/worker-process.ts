import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import type { FromWorker, Question, ToWorker } from './protocol.ts';

const [stateDir = '', options = '{}', bwrapPath = ''] = process.argv.slice(2);
const sandbox = await openSandbox({
  ...{ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath },
  ...JSON.parse(options),
});
const running = new Map<number, AbortController>();

process.on('message', async (message: ToWorker) => {
  const { id } = message;
  if ('abort' in message) {
    running.get(id)?.abort(new Error(message.abort));
    return;
  }
  const controller = new AbortController();
  running.set(id, controller);
  try {
    answer({ id, value: await act(sandbox, message.question, controller.signal) });
  } catch (error) {
    const { name, message: text, code, retryable } = error as Error & { code?: unknown; retryable?: unknown };
    answer({ id, error: { name, message: text, code, retryable } });
  } finally {
    running.delete(id);
  }
});
process.on('disconnect', () => void sandbox[Symbol.asyncDispose]().then(() => process.exit(0)));
answer({ ready: sandbox.capabilities });

async function act(on: Sandbox, question: Question, signal: AbortSignal): Promise<unknown> {
  switch (question.kind) {
    case 'run': {
      const { kind, ...command } = question;
      return await on.run({ ...command, signal });
    }
    case 'files': {
      const files = on.files(question.workspace);
      const operation = files[question.operation] as (...args: unknown[]) => Promise<unknown>;
      return await operation(...question.args);
    }
    case 'kill_all':
      return await on.killAll(question.workspaceId);
    case 'ping':
      return process.pid;
    default:
      return question satisfies never;
  }
}

function answer(message: FromWorker): void {
  // The test may have ended.
  process.send?.(message, undefined, undefined, () => {});
}
