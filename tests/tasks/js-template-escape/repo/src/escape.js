const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export const escapeText = (text) => text.replace(/[&<>]/g, (char) => entities[char]);
