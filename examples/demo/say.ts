import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

export const say = (text = ''): void => void process.stdout.write(`${text}\n`);
export const heading = (text: string): void => say(`\n${paint(['bold', 'cyan'], `== ${text}`)}`);
export const notice = (text: string): void => say(`\n${paint('yellow', text)}`);
export const proof = (text: string): void => say(`${paint('green', '  ok')}  ${text}`);
export const quote = (text: string): void => say(text.trimEnd().replace(/^/gm, '    '));
