export type { CodeGraphError } from './errors.ts';
export { type GraphQuery, type Graphs, openGraphs, type SyntaxCheck } from './open-graphs.ts';
export { questionNames } from './query/questions.ts';
