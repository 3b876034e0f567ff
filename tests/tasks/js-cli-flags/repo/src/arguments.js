import { known } from './known-options.js';

/** Reads the arguments of the command. */
export function parseArguments(argv) {
  const options = {};
  const files = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (!word.startsWith('--')) {
      files.push(word);
      continue;
    }
    const name = word.slice(2);
    const option = known[name];
    if (option === undefined) throw new Error(`unknown option --${name}`);
    options[name] = option.type === 'flag' ? true : valueOf(option, name, argv[++at]);
  }
  return { options, files };
}

function valueOf(option, name, text) {
  if (text === undefined) throw new Error(`--${name} needs a value`);
  if (option.type !== 'number') return text;
  const number = Number(text);
  if (!Number.isInteger(number)) throw new Error(`--${name} needs a whole number, not ${text}`);
  return number;
}

export function usage() {
  const lines = Object.entries(known).map(([name, { type, text }]) => {
    const form = type === 'flag' ? `--${name}` : `--${name} ${type === 'number' ? 'N' : name.toUpperCase()}`;
    return `  ${form.padEnd(16)} ${text}`;
  });
  return `usage: pinboard FILE... [options]\n${lines.join('\n')}\n`;
}
