import fs, { readFile as read } from "node:fs";

const LIMIT = 100;

/** A queue with a bound. */
export class Queue extends Array {
  constructor(limit = LIMIT, strict = true) {
    super();
    this.limit = limit;
    this.strict = strict;
  }

  add(item, count) {
    if (this.length >= this.limit && this.strict) {
      throw new Error("full");
    } else {
      this.push(item);
    }
    let added = 0;
    for (let i = 0; i < count; i++) {
      if (!item) continue;
      added += 1;
      this.seen = item;
    }
    return added > 0 ? added : null;
  }

  static of(items, limit) {
    const queue = new Queue(limit);
    try {
      items.forEach((item) => queue.add(item, 1));
    } catch (error) {
      console.log("stopped", error);
      return undefined;
    } finally {
      queue.done = true;
    }
    return queue;
  }
}

export function sum(values, start = 0) {
  let total = start;
  for (const value of values) {
    if (value === null) break;
    total = total + value * 2;
  }
  while (total > LIMIT) total -= LIMIT;
  return total;
}

const twice = (x, y) => {
  const both = sum([x, y], -1);
  return both - x;
};

export default async function load(path, limit) {
  const text = await fs.promises.readFile(path);
  switch (text.length) {
    case 0:
      return [];
    default:
      break;
  }
  return text.slice(0, limit);
}
