/** The model's guide to the queries of a run's graph; docs/code-graph.md has the whole. */
export const ownQueries = `query is one of
files {path?, language?}; symbols {name?, kind?, container?, exported?, path?}; outline {path}; definition {name, kind?, path?} or, for a use, {path, line, column?}; references {name, kind?, path?, defined_in?}; imports {path?, source?}; importers {path}; unparsed {path?, reason?}; summary {path?}.
name and path are globs (*, **, ?, {a,b}), a folder stands for all below it; definition, references, outline and importers take exact ones. Every query takes limit (1 to 1000, 100 by default) and cursor, the cursor of the answer before. Lines and columns count from 1.`;
