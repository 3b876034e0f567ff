export function filterNotes(notes, { tag, limit }) {
  const kept = tag === undefined ? notes : notes.filter(({ tags = [] }) => tags.includes(tag));
  return limit === undefined ? kept : kept.slice(0, limit);
}
