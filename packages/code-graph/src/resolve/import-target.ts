/** Where an import leads. Both empty: the target should be in the tree and is not, or cannot be known. */
export interface ImportTarget {
  /** Files of the tree, sorted, at most 100; several for the name of a package, a namespace or a folder. */
  files: readonly string[];
  /**
   * The import leads outside the tree: the name of the package or the standard module, as `react`, `@scope/name`, `os`, `fmt`, `java.util`.
   */
  external?: string;
}

/** A namespace of C# can have thousands of files, each used by thousands of files. */
const maxFiles = 100;
export const unknownTarget: ImportTarget = { files: [] };

export function toTarget(files: Iterable<string>): ImportTarget {
  return { files: [...new Set(files)].sort().slice(0, maxFiles) };
}

export function toExternal(name: string): ImportTarget {
  return { files: [], external: name };
}
