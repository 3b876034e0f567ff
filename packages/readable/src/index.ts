export { cutValue } from './cut-value.ts';
export { codeText, cut, hasHidden, nameText, oneLine, plainJson, shellWord } from './readable.ts';
export { hasUnseen, plain } from './unseen.ts';
