import { expect, test } from 'vitest';
import { definition } from '../tool-definition.ts';
import { advisoryArguments } from './advisory-arguments.ts';
import { everyToolset } from './every-toolset.ts';

/** Arguments with a name like an advisory one that decide what a call does, with the reason. */
const deciding: Record<string, string> = {
  'holdpoint.task.timeout_s': 'how long the turn waits: after it the sub-agent is a background task',
  'holdpoint.task_output.timeout_s': 'of a wait for one task, whose id no later call repeats',
  'clemini.task_output.timeout': 'of a wait for one task, whose id no later call repeats',
  'holdpoint.remember.note': 'what later runs read',
  'holdpoint.submit_plan.title': 'part of the plan that a person approves',
  'holdpoint.web_fetch.timeout_s': 'which requests are sent',
  'cli-agent.fetch_webpage.timeout_seconds': 'which requests are sent',
  'claude-code.NotebookEdit.notebook_path': 'the file that is edited',
  'workbench.web_fetch.timeout': 'which requests are sent',
};

const argumentsOf = (tool: Parameters<typeof definition>[0]): string[] =>
  Object.keys((definition(tool).input_schema as { properties?: object }).properties ?? {});

test.each(everyToolset.map((toolset) => [toolset.name, toolset] as const))(
  '%s leaves out arguments that its tools have, and has decided on every argument with such a name',
  (name, { tools, advisory = {} }) => {
    expect(advisory).toBe(advisoryArguments[name as keyof typeof advisoryArguments]);
    for (const [tool, { words = [], limits = [] }] of Object.entries(advisory)) {
      const found = tools.find((one) => one.name === tool);
      expect(found && argumentsOf(found), `${name}.${tool}`).toEqual(expect.arrayContaining([...words, ...limits]));
    }
    const open = tools.flatMap((tool) =>
      argumentsOf(tool).flatMap((argument) => {
        const { words = [], limits = [] } = advisory[tool.name] ?? {};
        const isNamed = [...words, ...limits].includes(argument) || `${name}.${tool.name}.${argument}` in deciding;
        return /descr|title|reason|expla|thought|purpose|comment|note|time_?out/i.test(argument) && !isNamed
          ? [`${name}.${tool.name}.${argument}`]
          : [];
      }),
    );
    expect(open).toEqual([]);
  },
);
