import { z } from 'zod';
import { defineTool, type ToolDeps, type Waiting } from '../define-tool.ts';
import { tools } from '../tools/index.ts';
import { answerOfRun } from '../tools/runs.ts';
import { runViewSchema } from '../views.ts';

/*
 * The tools that the scenarios for tasks of the conformance suite call, as real runs. Loaded into the API of one test before it starts;
 * the product has none of them.
 */

const startRun = async ({ client }: ToolDeps, command: string, { signal }: Waiting): Promise<string> => {
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command } }] }] };
  return (await client.createRun({ plan }, { signal })).run.id;
};

const runTool = <Input extends z.ZodObject>(name: string, input: Input, command: (given: z.output<Input>) => string) =>
  defineTool({
    ...{ name, title: name, description: name, input, output: runViewSchema, kind: 'write', idempotent: false },
    async run(deps, given, waiting) {
      const id = await startRun(deps, command(given), waiting);
      await deps.client.waitForRun(id, { signal: waiting.signal });
      return answerOfRun(deps, id, waiting.signal);
    },
    runToFollow: (deps, given, waiting) => startRun(deps, command(given), waiting),
  });

const wordTool = (name: string, input: z.ZodObject, words: (given: Record<string, unknown>) => string) =>
  defineTool({
    ...{ name, title: name, description: name, input, kind: 'read', idempotent: true },
    output: z.object({ text: z.string() }),
    run: async (_deps, given) => ({ text: words(given), value: { text: words(given) } }),
  });

const fixtures = [
  wordTool('greet', z.object({ name: z.string() }), ({ name }) => `Hello, ${name}!`),
  // It asks nothing: a task of Holdpoint never waits for the client's input.
  wordTool('confirm_delete', z.object({ filename: z.string() }), () => 'Nothing is deleted.'),
  runTool(
    'slow_compute',
    z.object({ seconds: z.number(), label: z.string() }),
    ({ seconds, label }) => `sleep ${seconds}; echo ${label}`,
  ),
  runTool('failing_job', z.object({}), () => 'exit 1'),
];
Array.prototype.push.apply(tools, fixtures);
