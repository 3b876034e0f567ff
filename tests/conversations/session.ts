/** A call of a model, as a session makes it. */
export type Call = [tool: string, args: Record<string, unknown>];

/** Makes the calls of one turn with the real tools, and records them. @returns the output of the last call */
export type Turn = (...calls: Call[]) => Promise<string>;

export const bash = (command: string): Call => ['bash', { command }];
export const read = (path: string, more: object = {}): Call => ['read_file', { path, ...more }];
export const edit = (path: string, old_string: string, new_string: string): Call => [
  'edit',
  { path, old_string, new_string },
];
export const grep = (pattern: string, more: object = {}): Call => ['grep', { pattern, ...more }];
export const write = (path: string, content: string): Call => ['write_file', { path, content }];
export const todos = (...all: [content: string, status: string][]): Call => [
  'todo_write',
  { todos: all.map(([content, status]) => ({ content, status })) },
];
