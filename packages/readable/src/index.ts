export { cutValue } from './cut-value.ts';
export { codeText, cut, hasHidden, hasUnseen, nameText, oneLine, plain, plainJson, shellWord } from './readable.ts';
