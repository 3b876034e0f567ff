/** The tools of each line of the guide. A run that has none of them does not get the line. */
const guide: readonly (readonly [tools: readonly string[], text: string])[] = [
  [
    ['code_graph'],
    'code_graph answers where a name is declared, who uses it and what a file imports; grep finds any other text.',
  ],
  [
    ['definition', 'references', 'rename'],
    'definition, references and rename ask the language server of the project, which knows types; without one, use code_graph and grep.',
  ],
  [
    ['read_file'],
    'Read a file before you change it, around the lines that a search named; a whole file only when it is short.',
  ],
  [
    ['edit', 'multi_edit', 'apply_patch', 'write_file'],
    'Change files with the tools for it, several places in one call where a tool takes them. Commands are no editors.',
  ],
  [
    ['bash'],
    'bash runs tests, builds and git. Give it one purpose at a time, and the narrowest test first. What serves or takes minutes goes to the background; task_output reads it.',
  ],
  [
    ['task'],
    'task gives a question or a part with clear edges to a sub-agent; several run at once. Say all that it needs to know, and check its result.',
  ],
  [
    ['todo_write'],
    'todo_write keeps the plan of work with more than a few steps; mark each when it is done and checked.',
  ],
  [
    ['ask_user'],
    'ask_user holds the run until a person answers: use it where the answer decides what to build, never for what a file or a command can tell.',
  ],
];

/** When to use which tool. @param has whether the run has a tool */
export function instructions(has: (tool: string) => boolean): string {
  const lines = guide.filter(([tools]) => tools.some(has)).map(([, text]) => `- ${text}`);
  return lines.length === 0 ? '' : ['Which tool:', ...lines].join('\n');
}
