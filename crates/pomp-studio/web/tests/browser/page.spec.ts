// The page itself: plots, keys and focus, colours, and small screens.
import { expect, frameAfter, frames, pause, picture, test, until, walked } from "./world";

test("plots have axes and tell the values under the cursor @smoke", async ({ world }) => {
  await world.keyboard.down("w");
  await frameAfter(world, 240);
  await pause(world);
  for (const plot of ["load", "assist", "manifold", "gates", "time"]) {
    await expect(world.locator(`#plot-${plot} canvas`), plot).toHaveCount(1);
    const painted = await world.locator(`#plot-${plot} canvas`).evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const pixels = (canvas as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height).data;
      return pixels.filter((value, i) => i % 4 === 3 && value > 0).length;
    });
    expect(painted, `painted pixels of ${plot}`).toBeGreaterThan(500);
  }
  const newest = await world.locator("#value-left").textContent();
  expect(newest).toMatch(/^\d\.\d\d$/);
  const box = (await world.locator("#plot-load .u-over").boundingBox())!;
  const seen = new Set<string | null>();
  for (const share of [0.2, 0.4, 0.6, 0.8]) {
    await world.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    const wanted = -5 * (1 - share);
    await expect
      .poll(async () => Number.parseFloat((await world.textContent("#plot-load .at")) || "0"))
      .toBeCloseTo(wanted, 0);
    // The other plots over time point at the same time.
    expect(await world.textContent("#plot-assist .at")).toBe(await world.textContent("#plot-load .at"));
    seen.add(`${await world.textContent("#value-left")} ${await world.textContent("#value-right")}`);
  }
  expect(seen.size, "different values at four times").toBeGreaterThan(1);
  await picture(world, "plots");
  await world.mouse.move(640, 300);
  await expect(world.locator("#plot-load .at")).toBeEmpty();
  await expect(world.locator("#value-left")).toHaveText(newest!);
});

test("every control can be reached with Tab, and shows that it is", async ({ world }) => {
  await frameAfter(world, 10);
  const wanted = await world.evaluate(
    () =>
      [...document.querySelectorAll<HTMLButtonElement>("button, input, select, canvas[tabindex]")].filter(
        (control) => control.checkVisibility() && !control.disabled,
      ).length,
  );
  const reached = new Set<string>();
  const unseen: string[] = [];
  for (let i = 0; i < wanted + 4; i++) {
    await world.keyboard.press("Tab");
    const at = await world.evaluate(() => {
      const control = document.activeElement as HTMLElement;
      const { push, take, brush, show } = control.dataset;
      return {
        name: control.id || push || take || brush || show || control.textContent || "",
        seen: getComputedStyle(control).outlineStyle !== "none",
        body: control === document.body,
      };
    });
    if (at.body) continue;
    reached.add(at.name);
    if (!at.seen) unseen.push(at.name);
  }
  expect(unseen, "controls without an outline").toEqual([]);
  expect(reached.size, `of ${wanted} controls`).toBeGreaterThanOrEqual(wanted - 1);
  await world.focus("#throw");
  await world.keyboard.press("Shift+Tab");
  await picture(world, "focus");
});

test("a field that was set with the pointer hands the keyboard back", async ({ world }) => {
  await world.evaluate(() => {
    const field = document.getElementById("terrain") as HTMLSelectElement;
    field.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    field.focus();
    field.value = "slope";
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await until(world, "a new scene", ({ epoch, frame }) => epoch === 1 && frame >= 10);
  await world.keyboard.press("s");
  await world.keyboard.down("w");
  expect(await walked(world, 240), "metres in four seconds").toBeGreaterThan(1);
  await expect(world.locator("#terrain")).toHaveValue("slope");
});

test("left and right differ for eyes without red, green or blue", async ({ world }) => {
  const eyes = await world.context().newCDPSession(world);
  await world.keyboard.down("w");
  await frameAfter(world, 120);
  await pause(world);
  for (const type of ["protanopia", "deuteranopia", "tritanopia"] as const) {
    await eyes.send("Emulation.setEmulatedVisionDeficiency", { type });
    await picture(world, type);
  }
  // The colours of the two sides, seen through each deficiency (Viénot and others, 1999; Brettel and others, 1997).
  const sides = await world.evaluate(() =>
    ["--left", "--right"].map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()),
  );
  const [left, right] = sides.map((hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)));
  const kinds: Record<string, number[][]> = {
    protanopia: [
      [0.11, 0.89, 0],
      [0.11, 0.89, 0],
      [0, 0, 1],
    ],
    deuteranopia: [
      [0.29, 0.71, 0],
      [0.29, 0.71, 0],
      [-0.02, 0.02, 1],
    ],
    tritanopia: [
      [1, 0.15, -0.15],
      [0, 0.87, 0.13],
      [0, 0.87, 0.13],
    ],
  };
  for (const [kind, rows] of Object.entries(kinds)) {
    const seen = (color: number[]): number[] => rows.map((row) => row.reduce((sum, f, k) => sum + f * color[k]!, 0));
    const [a, b] = [seen(left!), seen(right!)];
    expect(Math.hypot(...a.map((value, k) => value - b[k]!)), kind).toBeGreaterThan(80);
  }
});

test("dark as the system says, and back with the button", async ({ open }) => {
  const dark = await open(undefined, { colorScheme: "dark" });
  await frameAfter(dark, 20);
  const html = dark.locator("html");
  await expect(html).toHaveAttribute("data-theme", "dark");
  await dark.keyboard.down("w");
  await dark.keyboard.down("Shift");
  await frames(dark, 180);
  await picture(dark, "dark");
  await dark.click("#theme");
  await expect(html).toHaveAttribute("data-theme", "light");
});

test("a thumb walks it on a phone, and nothing lies over the edge @smoke", async ({ open }) => {
  const viewport = { width: 390, height: 844 };
  const phone = await open(undefined, { viewport, hasTouch: true, isMobile: true, deviceScaleFactor: 1 });
  await frameAfter(phone, 10);
  await picture(phone, "phone");
  const box = (await phone.locator("#stick").boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = await phone.context().newCDPSession(phone);
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
  await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [{ x, y: y - 50 }] });
  const went = await walked(phone, 150);
  await picture(phone, "phone-walk");
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  expect(went, "metres that the thumb led it").toBeGreaterThan(1);
  for (const panel of ["scene", "plots"]) {
    await phone.tap(`#open-${panel}`);
    await expect(phone.locator(`#${panel}`)).toBeVisible();
    const over = await phone.evaluate(() =>
      [...document.querySelectorAll("button, input, select, .plot")]
        .filter((control) => control.checkVisibility())
        .filter((control) => {
          const { left, right } = control.getBoundingClientRect();
          return left < -1 || right > innerWidth + 1;
        })
        .map((control) => control.id || control.textContent),
    );
    expect(over, "over the edge").toEqual([]);
    await frames(phone, 10);
    await picture(phone, `phone-${panel}`);
    await phone.tap(`#open-${panel}`);
  }
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
