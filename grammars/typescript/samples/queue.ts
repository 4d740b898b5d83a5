import type { Reader } from "./reader";
import { open } from "./reader";

export interface Options {
  limit?: number;
  strict: boolean;
}

type Key = string | number;

enum Level {
  Low = 1,
  High = 2,
}

export abstract class Store<T> {
  private items: Map<Key, T> = new Map();
  readonly limit: number = 10;

  constructor(private options: Options, limit: number = 5) {
    this.limit = limit + 1;
  }

  @logged("get")
  get(key: Key, fallback: T | null = null): T | null {
    const found = this.items.get(key) as T;
    if (found === undefined || key === "") {
      return fallback;
    }
    return found!;
  }

  abstract load(reader: Reader): Promise<void>;

  put(key: Key, value: T): boolean {
    if (this.items.size >= this.limit) {
      return false;
    } else {
      this.items.set(key, value);
    }
    return true;
  }
}

export const clamp = (value: number, low: number, high: number): number => {
  const bounded = Math.max(low, Math.min(high, value));
  return bounded;
};

function level(count: number): Level {
  for (let i = 0; i < count; i++) {
    if (i > 3) break;
  }
  return count > 2 && count !== 4 ? Level.High : Level.Low;
}
