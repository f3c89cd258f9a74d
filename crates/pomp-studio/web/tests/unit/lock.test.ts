import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Package {
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as {
  packages: Record<string, Package>;
};

test("the lock file names no registry: npm ci asks the one that is configured", () => {
  expect(Object.entries(packages).filter(([, one]) => one.resolved)).toEqual([]);
});

test("the lock file holds the packages of every platform", () => {
  const wanted = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
  expect(wanted.length).toBeGreaterThan(20);
  expect(wanted.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
});
