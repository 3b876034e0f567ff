import { type Meaning, noAudit, noChange, noSpan } from '../meaning.ts';

export const graphProgress: Meaning<'graph.progress'> = { changes: noChange, span: noSpan, audit: noAudit };
