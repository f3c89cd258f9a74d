import { expect, test } from "vitest";
import { moverLabel, othersThan } from "../../src/movers";

const several = { models: ["mine", "embedded"], controllers: [["pomp"], ["pomp", "pfnn"]] };

test("a scene is compared with every other model and controller, the same controller first", () => {
  expect(othersThan({ model: "mine", controller: "pomp" }, several)).toEqual([
    { model: "embedded", controller: "pomp" },
    { model: "embedded", controller: "pfnn" },
  ]);
  expect(othersThan({ model: "embedded", controller: "pfnn" }, several)).toEqual([
    { model: "mine", controller: "pomp" },
    { model: "embedded", controller: "pomp" },
  ]);
  const both = {
    models: ["a", "b"],
    controllers: [
      ["pomp", "pfnn"],
      ["pomp", "pfnn"],
    ],
  };
  expect(othersThan({ model: "a", controller: "pfnn" }, both)[0]).toEqual({ model: "b", controller: "pfnn" });
});

test("a label says what tells it from the others, and no more", () => {
  expect(moverLabel({ model: "embedded", controller: "pfnn" }, several)).toBe("embedded, pfnn");
  const alone = { models: ["embedded"], controllers: [["pomp", "pfnn"]] };
  expect(moverLabel({ model: "embedded", controller: "pfnn" }, alone)).toBe("pfnn");
  const plain = { models: ["mine", "embedded"], controllers: [["pomp"], ["pomp"]] };
  expect(moverLabel({ model: "mine", controller: "pomp" }, plain)).toBe("mine");
});
