import { Queue, sum } from "./queue";

describe("sum", () => {
  it("adds", () => {
    expect(sum([1, 2])).toBe(6);

    expect(sum([])).toBe(0); // nothing
  });

  test("is bounded", async () => {
    const total = sum([100]);
    await expect(Promise.resolve(total)).resolves.toBeLessThan(101);
    assert.ok(total);
  });
});

test("queue", () => {
  const queue: Queue = new Queue(1);
  queue.add("a", 1);
  for (const item of queue) {
    expect(item).toEqual("a");
  }
});
