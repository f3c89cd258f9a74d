import { describe, expect, test } from "vitest";
import { History, REMEMBERED } from "../../src/panels/history";
import { topOf } from "../../src/panels/time_plot";

describe("History", () => {
  test("the newest frame is at 0 s, and the ones before it at their times", () => {
    const history = new History(2);
    for (const value of [1, 2, 3]) history.push(value, 10 * value);
    expect(history.table(60)).toEqual([
      [-2 / 60, -1 / 60, 0],
      [1, 2, 3],
      [10, 20, 30],
    ]);
  });

  test("only so many frames are remembered, the newest ones", () => {
    const history = new History(1);
    for (let i = 0; i < REMEMBERED + 5; i++) history.push(i);
    const [seconds, values] = history.table(60);
    expect(values).toHaveLength(REMEMBERED);
    expect(values!.at(0)).toBe(5);
    expect(values!.at(-1)).toBe(REMEMBERED + 4);
    expect(seconds[0]).toBeCloseTo(-(REMEMBERED - 1) / 60, 9);
  });

  test("what is no number is a gap, in the table and in the figures", () => {
    const history = new History(2);
    history.push(1, Number.NaN);
    history.push(Number.POSITIVE_INFINITY, 4);
    expect(history.table(1)).toEqual([
      [-1, 0],
      [1, null],
      [null, 4],
    ]);
    expect(history.largest).toBe(4);
    expect(history.mean(0, 10)).toBe(1);
    expect(history.at(0)).toEqual([1, Number.NaN]);
  });

  test("going back forgets the newest frames", () => {
    const history = new History(1);
    for (const value of [1, 2, 3, 4]) history.push(value);
    history.drop(2);
    expect(history.table(1)).toEqual([
      [-1, 0],
      [1, 2],
    ]);
    history.drop(99);
    expect(history.frames).toBe(0);
  });

  test("an empty history has no figures", () => {
    const history = new History(1);
    history.push(3);
    history.clear();
    expect(history.largest).toBe(Number.NEGATIVE_INFINITY);
    expect(history.mean(0, 10)).toBeUndefined();
    expect(history.at(-1)).toEqual([Number.NaN]);
    expect(history.table(60)).toEqual([[], []]);
  });

  test("the mean is that of the newest frames", () => {
    const history = new History(1);
    for (const value of [100, 2, 4]) history.push(value);
    expect(history.mean(0, 2)).toBe(3);
  });
});

describe("topOf", () => {
  test.each([
    [Number.NEGATIVE_INFINITY, { least: 1.5 }, 1.5],
    [1, { least: 1.5 }, 1.5],
    [2, { least: 1.5 }, 2.16],
    [400, { least: 20, most: 50 }, 50],
  ])("the largest value %d within %o reaches to %d", (largest, range, top) => {
    expect(topOf(largest, range)).toBeCloseTo(top, 9);
  });
});
