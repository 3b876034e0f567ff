/** Where an import leads. Both empty: it should be in the tree and is not, or cannot be known. */
export interface ImportTarget {
  /** Files of the tree; several when it names a package, a namespace or a folder. Sorted. */
  files: readonly string[];
  /** It leads outside the tree: the name of the package or the standard module, as `react`, `@scope/name`, `os`, `fmt`, `java.util`. */
  external?: string;
}
