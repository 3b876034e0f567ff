/** The file of a source's notes, relative to the root of a workspace. Each note is a line that begins with `- `. */
export const notesPath = '.holdpoint/notes.md';
