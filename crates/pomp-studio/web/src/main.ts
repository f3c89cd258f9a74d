// The page: puts view, plots and world together.
import "./style.css";
import { Clips, embeddedClips } from "./clips";
import { Live } from "./live";
import { dark, light, type Palette } from "./palette";
import { Plots } from "./panels/plots";
import { all, element, save, say, sayError } from "./ui";
import { Video } from "./video";
import type { Shown } from "./view/overlays";
import { Stage } from "./view/stage";
import { WorldView } from "./view/world_view";

const KEYS: [string, string][] = [
  ["W A S D, arrows", "walk; a gamepad's left stick does the same"],
  ["F held", "face ahead in the view, and go aside or backward; turn on the spot"],
  ["Shift", "jog"],
  ["C, Space", "crouch, jump, where the model has learnt them"],
  ["drag on the body", "aim a push; let go to push, Escape to leave it"],
  ["click on the body", "push it there, away from the viewer, as hard as the panel says"],
  ["P", "push the chosen body away from the viewer"],
  ["B", "throw a box at the chosen body"],
  ["drag elsewhere, wheel", "look around, come nearer"],
  ["Enter", "pause, go on"],
  [".", "one frame"],
  ["Z", "back one second"],
  ["R", "begin anew"],
  ["?", "this list"],
];

function start(): void {
  const canvas = element<HTMLCanvasElement>("view");
  let stage: Stage;
  try {
    stage = new Stage(canvas);
  } catch {
    element("lost").hidden = false;
    element("lost-text").textContent =
      "This browser shows no WebGL, which the studio draws with. Try another browser, or enable hardware acceleration.";
    element("reconnect").hidden = true;
    return;
  }
  const view = new WorldView(stage);
  const plots = new Plots();
  const shown: Shown = { ghost: false, impulses: true, path: true, footprints: true, center: false };
  for (const box of all<HTMLInputElement>("[data-show]")) {
    const what = box.dataset.show as keyof Shown;
    shown[what] = box.checked;
    box.onchange = () => (shown[what] = box.checked);
  }
  const clips = new Clips(view, plots, shown, () => tab("clips"));
  const live = new Live(view, plots, shown, canvas, (pair) => clips.compare(pair));
  new Video(canvas);
  const tab = (which: "live" | "clips"): void => {
    if (clips.active === (which === "clips")) return;
    document.body.classList.toggle("clips", which === "clips");
    for (const name of ["live", "clips"] as const)
      element(`tab-${name}`).setAttribute("aria-selected", String(name === which));
    live.setActive(which === "live");
    clips.setActive(which === "clips");
  };
  element("tab-live").onclick = () => tab("live");
  element("tab-clips").onclick = () => tab("clips");
  theme((palette) => {
    view.setColors(palette);
    clips.setColors(palette);
  });
  panels();
  keys();
  handBack(canvas);
  element("picture").onclick = () => {
    stage.render();
    canvas.toBlob(
      (picture) =>
        picture ? save("pomp.png", picture) : say({ level: "error", text: "The browser gave no picture." }),
      "image/png",
    );
  };
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    say({ level: "error", text: "The browser has taken the graphics away. Reload the page." });
  });
  const resize = (): void => stage.resize(innerWidth, innerHeight);
  addEventListener("resize", resize);
  resize();
  let before = performance.now();
  const frame = (now: number): void => {
    const seconds = Math.min((now - before) / 1000, 0.1);
    before = now;
    (clips.active ? clips : live).draw(seconds);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  void embeddedClips()
    .then((inside) => {
      const [first] = inside;
      if (first) {
        document.body.classList.add("alone");
        document.title = `${first.about.name} · POMP`;
        for (const clip of inside) clips.add(clip);
        return;
      }
      live.open();
      // A link to a scene is about the live world, whatever the program was started with.
      if (!location.hash.startsWith("#scene=")) return clips.offer();
      return undefined;
    })
    .catch(sayError);
}

/** Light or dark as the system says, until the button says otherwise. */
function theme(paint: (palette: Palette) => void): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen: boolean | undefined;
  const apply = (): void => {
    const isDark = chosen ?? system.matches;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    paint(isDark ? dark : light);
  };
  system.addEventListener("change", apply);
  element("theme").onclick = () => {
    chosen = !(chosen ?? system.matches);
    apply();
  };
  apply();
}

/** Panels open and close; a small window begins with both closed and shows one at a time. */
function panels(): void {
  const small = matchMedia("(max-width: 760px)");
  const pairs = [
    ["open-scene", "scene"],
    ["open-plots", "plots"],
  ] as const;
  const open = (button: string, panel: string, on: boolean): void => {
    element(panel).hidden = !on;
    element(button).setAttribute("aria-expanded", String(on));
    document.body.classList.toggle("covered", small.matches && pairs.some(([, its]) => !element(its).hidden));
  };
  for (const [button, panel] of pairs) {
    open(button, panel, !small.matches);
    element(button).onclick = () => {
      const on = element(panel).hidden !== false;
      if (on && small.matches) for (const [other, its] of pairs) open(other, its, false);
      open(button, panel, on);
    };
  }
}

/** A field that was set with the pointer gives the keyboard back: otherwise W would choose another ground by its first letter. */
function handBack(canvas: HTMLElement): void {
  let byPointer = false;
  addEventListener("pointerdown", () => (byPointer = true), true);
  addEventListener("keydown", () => (byPointer = false), true);
  addEventListener("change", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLSelectElement || field instanceof HTMLInputElement)) return;
    if (byPointer && field.matches("select, [type=range], [type=checkbox]")) canvas.focus({ preventScroll: true });
  });
  addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key === "Enter" && field instanceof HTMLInputElement && field.type === "number")
      canvas.focus({ preventScroll: true });
  });
}

function keys(): void {
  const dialog = element<HTMLDialogElement>("keys");
  const table = document.createElement("table");
  for (const [key, what] of KEYS) {
    const row = table.insertRow();
    row.insertCell().textContent = key;
    row.insertCell().textContent = what;
  }
  element("key-list").append(table);
  element("help").onclick = () => dialog.showModal();
  addEventListener("keydown", (event) => {
    if (event.key === "?" && !dialog.open) dialog.showModal();
  });
}

addEventListener("error", (event) => sayError(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => sayError(event.reason));
start();
