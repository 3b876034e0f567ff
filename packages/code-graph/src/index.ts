export { type FileFacts, fileFactsSchema } from './facts.ts';
