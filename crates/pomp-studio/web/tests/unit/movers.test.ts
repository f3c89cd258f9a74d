import { expect, test } from "vitest";
import { moverLabel, movers } from "../../src/movers";

const several = { models: ["mine", "embedded"], controllers: [["pomp"], ["pomp", "pfnn"]] };

test("every model comes with every controller that it holds", () => {
  expect(movers(several)).toEqual([
    { model: "mine", controller: "pomp" },
    { model: "embedded", controller: "pomp" },
    { model: "embedded", controller: "pfnn" },
  ]);
});

test("a label says what tells it from the others, and no more", () => {
  expect(moverLabel({ model: "embedded", controller: "pfnn" }, several)).toBe("embedded, pfnn");
  const alone = { models: ["embedded"], controllers: [["pomp", "pfnn"]] };
  expect(moverLabel({ model: "embedded", controller: "pfnn" }, alone)).toBe("pfnn");
  const plain = { models: ["mine", "embedded"], controllers: [["pomp"], ["pomp"]] };
  expect(moverLabel({ model: "mine", controller: "pomp" }, plain)).toBe("mine");
});
