import type { LanguageModelMiddleware } from 'ai';

/** Nested arrays and objects. The SDK and the code that validates and stores arguments recurse once per level. */
const deepestArgs = 90;

/** Replaces arguments that are nested too deeply. */
export const tooDeep = `The arguments had more than ${deepestArgs} levels of arrays and objects.`;

/** Replaces arguments with too many levels before the SDK reads them. */
export const boundArgsDepth: LanguageModelMiddleware = {
  specificationVersion: 'v4',
  async wrapGenerate({ doGenerate }) {
    const answer = await doGenerate();
    const content = answer.content.map((part) =>
      part.type === 'tool-call' && isDeeperThan(deepestArgs, part.input)
        ? { ...part, input: JSON.stringify(tooDeep) }
        : part,
    );
    return { ...answer, content };
  },
};

/** Counts the brackets of JSON text outside its strings in one pass. A hostile text could make a parser or a pattern slow. */
function isDeeperThan(levels: number, json: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (inString && character === '\\') at += 1;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}
