/** A call as a model writes it. */
export interface ExpertCall {
  tool: string;
  args: Record<string, string | number | boolean>;
}

type Thinking<Value> = Generator<ExpertCall[], Value, string[]>;

/**
 * Solves a task turn by turn: yields the calls of a turn, gets the texts of their results, and returns its last message. An expert knows the
 * craft but not the repository: places and texts come from results.
 */
export type Expert = () => Thinking<string>;

/** The next answer of the expert in a conversation with these results. Starts again from the beginning, so a repeated request gets the same answer. */
export function nextTurn(expert: Expert, results: readonly string[]): { calls: ExpertCall[] } | { text: string } {
  const thinking = expert();
  let known = 0;
  try {
    for (let { done, value } = thinking.next(); ; ) {
      if (done) return { text: String(value) };
      const calls = value as ExpertCall[];
      if (known === results.length) return { calls };
      const given = results.slice(known, known + calls.length);
      known += calls.length;
      ({ done, value } = thinking.next(given));
    }
  } catch (error) {
    return { text: `${lost} ${String(error)}` };
  }
}

/** Begins the last message of an expert that did not find what it looked for. */
const lost = 'I am lost:';

function* use(tool: string, args: ExpertCall['args']): Thinking<string> {
  const [text = ''] = yield [{ tool, args }];
  return text;
}

export const run = (command: string) => use('bash', { command });
export const read = (path: string) => use('read_file', { path });
export const grep = (pattern: string, more: ExpertCall['args'] = {}) => use('grep', { pattern, ...more });
export const glob = (pattern: string) => use('glob', { pattern });
export const write = (path: string, content: string) => use('write_file', { path, content });
export const edit = (path: string, old_string: string, new_string: string) =>
  use('edit', { path, old_string, new_string });

/** Several calls in one turn, as models make them for files that they read together. */
export const readAll = (...paths: string[]): Thinking<string[]> =>
  turn(paths.map((path) => ({ tool: 'read_file', args: { path } })));

function* turn(calls: ExpertCall[]): Thinking<string[]> {
  return yield calls;
}
