import type { LanguageModelMiddleware } from 'ai';

/** Arrays and objects within one another. The SDK, and what validates and stores arguments, call themselves once per level. */
const deepestArgs = 90;

/** Stands in for arguments that are too deep to be read. */
export const tooDeep = `The arguments had more than ${deepestArgs} levels of arrays and objects.`;

/** Replaces arguments of too many levels before the SDK reads them. */
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

/** Counts the brackets of JSON text outside its strings, in one pass: parsing it or matching it by a pattern could be made slow. */
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
