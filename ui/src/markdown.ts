/** A text that grows, in blocks: all but the last stay as they are. */

export interface TextBlock {
  start: number;
  text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Cuts Markdown at empty lines that stand outside fenced code; the blocks put together are the text. */
export function blocksOf(text: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  let start = 0;
  let place = 0;
  let fence: string | null = null;
  let empty = false;
  for (const line of text.split("\n")) {
    if (fence === null && empty && line.trim() && !/^\s/.test(line) && place > start) {
      blocks.push({ start, text: text.slice(start, place) });
      start = place;
    }
    const found = FENCE.exec(line)?.[1];
    if (found && fence === null) fence = found;
    else if (found && fence !== null && found.startsWith(fence)) fence = null;
    empty = !line.trim();
    place += line.length + 1;
  }
  if (start < text.length) blocks.push({ start, text: text.slice(start) });
  return blocks;
}
